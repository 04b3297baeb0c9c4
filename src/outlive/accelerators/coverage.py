"""What was found out about accelerators, as plain data: it can be written as JSON and judged later."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from outlive.finding import Finding, Severity
from outlive.model import Model
from outlive.records import NOT_WRITTEN, ModelFile, in_document, written
from outlive.results import Listed, Summary, file_name


@dataclass(frozen=True, slots=True, kw_only=True)
class OpRefusal:
    """Operators of one type that an accelerator left to the CPU, and why.

    `op` is the operator's index in the main subgraph; None where the accelerator named only the type, and
    not even a trial of the single operators could tell which are meant.
    """

    op: int | None
    type: str
    reason: str
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """A tensor that is handed over between the accelerator and the CPU at each run."""

    tensor: int
    name: str
    bytes: int
    into: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenOps:
    """Operators taken and refused; `taken` is None where only their number is known.

    `unavailable` says that the accelerator turned out not to be here at all; `error` is its own complaint
    where that says more than the runtime's.
    """

    ops_taken: int | None = None
    taken: tuple[int, ...] | None = None
    partitions: int | None = None
    refused: tuple[OpRefusal, ...] = ()
    crossings: tuple[Crossing, ...] = ()
    device: str = ""
    is_software: bool = False
    unavailable: str = ""
    error: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadOperator:
    """The operator that was running when a worker died."""

    type: str
    index: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Death:
    """How the worker of an accelerator ended: by itself, or by us at a limit (`ended_by`)."""

    signal: str = field(default="", metadata=written(null=True))
    exit_code: int | None = None
    stage: str
    ended_by: str = field(default="", metadata=written(null=True))
    op_type: str = field(default="", metadata=NOT_WRITTEN)
    op_index: int | None = field(default=None, metadata=NOT_WRITTEN)
    headline: str = ""

    @property
    @in_document()
    def op(self) -> DeadOperator | None:
        """The operator that was running, if that is known."""
        return DeadOperator(type=self.op_type, index=self.op_index) if self.op_type else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How far the outputs are from those of the kernels they are compared with.

    `allowed` is what is normal for the arithmetic of both; `output` is the one that is furthest beyond it.
    For strings, and for integers that stand for no real number, a difference is a count of unlike values.
    """

    against: str
    largest: float
    mean: float
    allowed: float
    output: str = ""

    @property
    def is_normal(self) -> bool:
        """True if kernels of this kind usually differ by as much."""
        return self.largest <= self.allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A difference as documents have it; None where nothing was compared."""

    compared_with: str | None = None
    max_abs_difference: float | None = None
    mean_abs_difference: float | None = None
    normal_difference: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultyPart:
    """The operators that an accelerator needs to end badly, and the part of the model that has just them."""

    ops: tuple[int, ...]
    types: tuple[str, ...]
    how: str
    model: bytes = field(default=b"", repr=False, metadata=NOT_WRITTEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """How much an accelerator would take, were it not for operators of this type refused for this reason."""

    type: str
    reason: str
    ops_taken: int
    partitions: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Accelerator(Summary):
    """The operators that one accelerator took, and its results; None is unknown.

    `unavailable` says why it could not be tried, and `install` what would have to be done. `device` is what
    it runs on in its own words; `is_software` that this is the CPU in disguise. `agrees_with` are kernels of
    the CPU that agree with it where those it is compared with stand alone.
    """

    name: str
    title: str
    available: bool
    unavailable: str = field(default="", metadata=written(null=True))
    install: str = field(default="", metadata=written(null=True))
    device: str = field(default="", metadata=written(null=True))
    is_software: bool = field(default=False, metadata=written("software"))
    is_library: bool = field(default=False, metadata=NOT_WRITTEN)
    compiles: bool | None = None
    runs: bool | None = None
    error: str = field(default="", metadata=written(null=True))
    death: Death | None = field(default=None, metadata=written("died"))
    ops_total: int = 0
    ops_taken: int | None = None
    taken: tuple[int, ...] | None = None
    partitions: int | None = None
    refused: tuple[OpRefusal, ...] = ()
    crossings: tuple[Crossing, ...] = ()
    difference: Difference | None = field(default=None, metadata=NOT_WRITTEN)
    agrees_with: tuple[str, ...] = ()
    not_compared: str = field(default="", metadata=written(null=True))
    milliseconds: float | None = None
    compile_milliseconds: float | None = None
    peak_bytes: int | None = None
    notes: tuple[str, ...] = ()
    culprit: FaultyPart | None = None
    what_ifs: tuple[WhatIf, ...] = field(default=(), metadata=written("what_if"))
    from_cache: bool = False
    flight: Any = field(default=None, repr=False, compare=False, metadata=NOT_WRITTEN)

    def _summary(self) -> tuple[str, str]:
        """Its name, and what came of it."""
        return self.name, self.outcome

    @property
    @in_document(flat=True)
    def compared(self) -> Compared:
        """How far the outputs are from those of other kernels."""
        found = self.difference
        if found is None:
            return Compared()
        return Compared(
            compared_with=found.against,
            max_abs_difference=found.largest,
            mean_abs_difference=found.mean,
            normal_difference=found.allowed,
        )

    @property
    @in_document()
    def outcome(self) -> str:
        """One word for the table: absent, died, ended, refused, compiles (and not run), differs, runs."""
        if not self.available:
            return "absent"
        if self.death is not None:
            return "ended" if self.death.ended_by else "died"
        if not self.runs:
            return "compiles" if self.compiles and self.runs is None else "refused"
        far = self.difference is not None and not self.difference.is_normal
        return "differs" if far and not self.agrees_with else "runs"


class Condition(NamedTuple):
    """What a document demands of operators of a type."""

    type: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Documented:
    """What the document of an accelerator says that is not here: documented, not tried.

    `conditions` are those that the document puts on operators of the model that it lists, by type.
    """

    name: str
    title: str
    document: str
    version: str
    date: str
    ops_total: int
    ops_listed: int
    refused: tuple[OpRefusal, ...] = ()
    conditions: tuple[Condition, ...] = ()
    note: str = field(default="", metadata=written(null=True))

    @property
    @in_document()
    def tried(self) -> bool:
        """No: it is judged by its document alone."""
        return False


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Coverage(Listed[Accelerator]):
    """The operators that each accelerator takes, and its results, in the order tried.

    `documented` are accelerators that are judged by their documents alone, `unknown` those without one.
    `source` is the model as it was read.
    """

    kind: ClassVar[str] = "delegates"
    tables = (("accelerators", Accelerator), ("documented", Documented))

    path: str | None = field(metadata=NOT_WRITTEN)
    sha256: str = field(metadata=NOT_WRITTEN)
    file_bytes: int = field(metadata=NOT_WRITTEN)
    runtime: Mapping[str, str]
    accelerators: tuple[Accelerator, ...]
    op_types: tuple[str, ...] = field(default=(), metadata=NOT_WRITTEN)
    documented: tuple[Documented, ...] = ()
    unknown: tuple[str, ...] = ()
    processors: int | None = field(default=None, metadata=NOT_WRITTEN)
    threads: int | None = field(default=None, metadata=NOT_WRITTEN)
    findings: tuple[Finding, ...] = ()
    source: Model | None = field(default=None, metadata=NOT_WRITTEN)

    @property
    @in_document()
    def model(self) -> ModelFile:
        """The file that was tried."""
        return ModelFile(path=self.path, sha256=self.sha256, file_bytes=self.file_bytes)

    @property
    @in_document("best")
    def best_name(self) -> str | None:
        """The name of the best; None if there is none."""
        return None if self.best is None else self.best.name

    @property
    def outcome(self) -> str:
        """What it came to, in one word: clean, errors or died."""
        if any(one.name == "xnnpack" and one.death is not None for one in self.accelerators):
            return "died"
        return "errors" if any(item.severity is Severity.ERROR for item in self.findings) else "clean"

    @property
    def best(self) -> Accelerator | None:
        """The quickest that runs, agrees with the reference kernels and is no software in disguise."""
        fit = [one for one in self.accelerators if one.outcome == "runs" and not one.is_software]
        timed = [one for one in fit if one.milliseconds is not None]
        return min(timed, key=lambda one: one.milliseconds or 0.0, default=None)

    def _summary(self) -> tuple[str, str]:
        """The model, and one word for each accelerator."""
        return file_name(self.path), ", ".join(f"{one.name} {one.outcome}" for one in self.accelerators)
