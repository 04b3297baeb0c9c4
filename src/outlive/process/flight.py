"""The record of a run: everything that was seen, nothing that was concluded.

What a delegate took of a model, read from the nodes that the runtime has after it came.

A delegate leaves the operators it took in the list of nodes and puts a node of its own behind them, whose
outputs it computes from that node's inputs (LiteRT, tflite/core/subgraph.cc,
ReplaceNodeSubsetsWithDelegateKernels). The way back from those outputs to those inputs is what it took.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from outlive.errors import RunError
from outlive.finding import Finding, Severity
from outlive.meter import Point
from outlive.records import NOT_WRITTEN, ModelPath, in_document, part_of, written
from outlive.results import Result, file_name

_NODE = "DELEGATE"
# A record names a few; who wants all of them asks what each accelerator takes.
_MOST_NAMED = 20
_LONGEST_NAME = 80


class LeftOperator(NamedTuple):
    """An operator that no delegate took."""

    index: int  # type: ignore[assignment]
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegationSeen:
    """What was asked for, how many operators there are and how many were taken, in how many parts.

    `left` are operators that were not taken, the first of them: index and type.
    """

    asked: tuple[str, ...]
    operators: int
    taken: int
    parts: int
    left: tuple[LeftOperator, ...]


def see_delegation(asked: Sequence[str], nodes: Iterable[Sequence[Any]]) -> DelegationSeen:
    """What became of the delegates asked for; a node is its type, its inputs and its outputs."""
    rows = [
        (str(kind)[:_LONGEST_NAME], set(map(int, inputs)), set(map(int, outputs)))
        for kind, inputs, outputs in nodes
    ]
    operators = [row for row in rows if row[0] != _NODE]
    parts = [row for row in rows if row[0] == _NODE]
    taken: set[int] = set()
    makers = {tensor: index for index, (_, _, outputs) in enumerate(operators) for tensor in outputs}
    for _, inputs, outputs in parts:
        waiting = list(outputs - inputs)
        while waiting:
            maker = makers.get(waiting.pop())
            if maker is not None and maker not in taken:
                taken.add(maker)
                waiting += operators[maker][1] - inputs
    left = [LeftOperator(index, row[0]) for index, row in enumerate(operators) if index not in taken]
    return DelegationSeen(
        asked=tuple(asked),
        operators=len(operators),
        taken=len(taken),
        parts=len(parts),
        left=tuple(left[:_MOST_NAMED]),
    )


def ask_delegation(nodes: Callable[[], Any], asked: Sequence[str]) -> DelegationSeen | None:
    """What delegates took, of the nodes that a runtime is asked for; None if it does not say."""
    try:
        return see_delegation(asked, nodes())
    except RunError:
        raise
    except (AttributeError, KeyError, OverflowError, RuntimeError, TypeError, ValueError):
        return None  # an older runtime, names that are no text: the run went well all the same


_MOST_TENSORS = 20


class Unjudged(Exception):
    """What a worker without a judge raises in place of an error with a finding: `fact` is what was seen.

    That is a `Flight` of a death or of a complaint, the `Call` that was refused, or what is missing.
    """

    def __init__(self, kind: str, fact: Any) -> None:
        """Keep the fact."""
        super().__init__(f"no judge was given for this {kind}: {fact!r}")
        self.kind, self.fact = kind, fact


@dataclass(frozen=True, slots=True, kw_only=True)
class OpSeen:
    """The operator that native frames name; its index where only one can be meant."""

    type: str
    subgraph: int = 0
    index: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputSeen:
    """An output of a run. `untouched_bytes` counts bytes never written; None if this was not checked.

    `not_finite` counts values that are NaN or infinite.
    """

    name: str
    index: int
    shape: tuple[int, ...]
    dtype: str
    minimum: float | None = field(metadata=written("min"))
    maximum: float | None = field(metadata=written("max"))
    sha256: str
    untouched_bytes: int | None = field(default=None, metadata=written(omit=True))
    not_finite: int = field(default=0, metadata=written(omit=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorSeen:
    """A tensor over one or several runs: does it change with the inputs, and how many numbers are no numbers.

    Its least and greatest number are NaN where one of them is.
    """

    index: int
    size: int
    not_finite: int
    varies: bool
    minimum: float
    maximum: float


@dataclass(frozen=True, slots=True, kw_only=True)
class InsideSeen:
    """Tensors of the main graph over `runs` with different inputs, in the order they are made.

    `chosen` is False if the inputs were outlive's own.
    """

    runs: int
    chosen: bool
    tensors: tuple[TensorSeen, ...]

    @property
    @in_document("tensors", back=lambda rows: {"tensors": rows})
    def odd_tensors(self) -> tuple[TensorSeen, ...]:
        """What is out of the ordinary: a record need not name each tensor of a model."""
        odd = (row for row in self.tensors if row.not_finite or not (row.varies or self.runs == 1))
        return tuple(odd)[:_MOST_TENSORS]


class Division(NamedTuple):
    """A division that stopped the processor."""

    dividend: int
    divisor: int


class StageSeconds(NamedTuple):
    """How long a stage took."""

    stage: str
    seconds: float


class Resized(NamedTuple):
    """The shape that an input was given."""

    index: int  # type: ignore[assignment]
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorSeen:
    """What the runtime raised."""

    type: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Flight(Result):
    """The record of a run: plain data that can be written as JSON and judged later.

    `ended_by` says what we did ourselves: "deadline", "memory", "interrupt", "malformed" (it sent an answer
    that breaks the protocol; `error_text` says which rule), or "" if it ended by itself.
    `model_files` are the files of models that the process had mapped when it died.
    `division` is the dividend and divisor that stopped the processor, `activity` what the process was doing
    at its deadline (meter.activity), `resized` the shapes that inputs were given, by index (None: not
    known). `machine` is the memory of the machine and the container at the end, `planned` what the plan says
    that the model needs, `variables` the largest variables on the Python stack. `values` holds the outputs of
    a run that went well, `source` the model and `judge` who can say what it means; `source_model` and `plan`
    are the model as it was read and what was planned for it, where a page shows them. They are not part of
    the record.
    """

    kind: ClassVar[str] = "run"
    tables = (("timeline", Point), ("outputs", OutputSeen), ("stages", StageSeconds))

    died: bool
    stage: str
    signal: str | None = None
    exit_code: int | None = None
    ended_by: str = ""
    op: OpSeen | None = None
    op_candidates: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    model_files: tuple[str, ...] = field(default=(), metadata=written(omit=True))
    fault_address: int | None = None
    division: Division | None = None
    activity: dict[str, Any] = field(default_factory=dict)
    error_type: str = field(default="", metadata=NOT_WRITTEN)
    error_text: str = field(default="", metadata=NOT_WRITTEN)
    outputs: tuple[OutputSeen, ...] = ()
    peak_bytes: int | None = None
    baseline_bytes: int = 0
    timeline: tuple[Point, ...] = ()
    stages: tuple[StageSeconds, ...] = ()
    stderr_tail: str = ""
    fault_trace: str = ""
    limits: dict[str, Any] = field(default_factory=dict)
    oom_kills: tuple[int, int] | None = None
    last_memory: dict[str, int] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict, metadata=written(omit=True))
    planned: dict[str, Any] = field(default_factory=dict, metadata=written(omit=True))
    variables: tuple[dict[str, Any], ...] = field(default=(), metadata=written(omit=True))
    runtime: dict[str, Any] = field(default_factory=dict)
    untraced: str = ""
    pid: int | None = None
    delegation: DelegationSeen | None = field(default=None, metadata=written(omit=True))
    resized: dict[int, tuple[int, ...]] | None = field(default=None, metadata=NOT_WRITTEN)
    unset_inputs: tuple[tuple[int, str], ...] = field(default=(), metadata=written(omit=True))
    unset_by: str = field(default="", metadata=written(omit=True))
    inside: InsideSeen | None = field(default=None, metadata=written(omit=True))
    values: dict[str, Any] = field(default_factory=dict, repr=False, compare=False, metadata=NOT_WRITTEN)
    source: Any = field(default=None, repr=False, compare=False, metadata=NOT_WRITTEN)
    judge: Any = field(default=None, repr=False, compare=False, metadata=NOT_WRITTEN)
    source_model: Any = field(default=None, compare=False, metadata=NOT_WRITTEN)
    plan: Any = field(default=None, compare=False, metadata=NOT_WRITTEN)

    @property
    @in_document(own=True)
    def findings(self) -> tuple[Finding, ...]:
        """What the rules say of it: why it ended badly, or what went wrong without a word.

        `Unjudged` for a record that was made without a judge; `outlive.diagnose` takes such a one, too.
        """
        if self.judge is None:
            raise Unjudged("flight", self)
        found: tuple[Finding, ...] = self.judge.find_all(self)
        return found

    @property
    def path(self) -> str | None:
        """The file that was run; None for bytes."""
        return self.source if isinstance(self.source, str) else None

    @property
    def outcome(self) -> str:
        """What it came to, in one word: clean, errors or died."""
        findings = () if self.judge is None else self.findings
        if self.died or self.ended_by or any(item.code == "D502" for item in findings):
            return "died"
        grave = any(item.severity is Severity.ERROR for item in findings)
        return "errors" if self.error_type or grave else "clean"

    def _summary(self) -> tuple[str, str]:
        """The model, and how it ended."""
        how = self.ended_by or self.signal or self.error_type or f"exit code {self.exit_code}"
        bad = self.died or self.error_type
        end = f"{'died' if self.died else 'refused'}, {how} in {self.stage}" if bad else "ran"
        return file_name(self.source if isinstance(self.source, str) else None), end

    @property
    @in_document(own=True, back=lambda model: {"source": model.path})
    def model(self) -> ModelPath:
        """The file that was run."""
        return ModelPath(path=self.source if isinstance(self.source, str) else None)

    @property
    @in_document(back=lambda seen: {} if seen is None else {"error_type": seen.type, "error_text": seen.text})
    def error(self) -> ErrorSeen | None:
        """What the runtime raised; None if it did not."""
        return ErrorSeen(type=self.error_type, text=self.error_text) if self.error_type else None

    @property
    @in_document("resized", omit=True, back=lambda rows: {"resized": dict(rows)})
    def resized_inputs(self) -> tuple[Resized, ...] | None:
        """The shapes that inputs were given; None if none was."""
        return tuple(Resized(*row) for row in self.resized.items()) if self.resized else None

    def to_json(self) -> dict[str, Any]:
        """The record, with the names of the contract."""
        record: dict[str, Any] = part_of(self)
        return record


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWithFindings:
    """A run with findings that somebody chose: a report says each finding once."""

    kind: ClassVar[str] = "run"

    model: ModelPath
    flight: Flight = field(metadata=written(flat=True))
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotStarted:
    """Why a model was not run: its plan says that it cannot fit the limit."""

    kind: ClassVar[str] = "run"

    model: ModelPath
    started: bool = False
    died: bool = False
    findings: tuple[Finding, ...]
