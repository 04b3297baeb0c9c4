"""The record of a run: everything that was seen, nothing that was concluded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from outlive.errors import InternalError
from outlive.finding import Finding, Severity
from outlive.meter import Point
from outlive.names import safe
from outlive.worker.delegation import DelegationSeen

_DIVISION = ("dividend", "divisor")
_MOST_TENSORS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class OpSeen:
    """The operator that native frames name; its index where only one can be meant."""

    type: str
    subgraph: int = 0
    index: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputSeen:
    """An output of a run in numbers; `untouched_bytes` were never written, None if nobody looked.

    `not_finite` of its numbers are NaN or infinite.
    """

    name: str
    index: int
    shape: tuple[int, ...]
    dtype: str
    minimum: float | None
    maximum: float | None
    sha256: str
    untouched_bytes: int | None = None
    not_finite: int = 0


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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Flight:
    """What was seen of a run: plain data that can be written as JSON and judged later.

    `ended_by` says what we did ourselves: "deadline", "memory", "interrupt", "malformed" (it sent an answer
    that breaks the protocol; `error_text` says which rule), or "" if it ended by itself.
    `division` is the dividend and divisor that stopped the processor, `activity` what the process was doing
    at its deadline (meter.activity), `resized` the shapes that inputs were given, by index (None: not
    known). `machine` is the memory of the machine and the container at the end, `planned` what the plan says
    that the model needs, `variables` the largest variables on the Python stack. `values` holds the outputs of
    a run that went well, `source` the model and `judge` who can say what it means; `source_model` and `plan`
    are the model as it was read and what was planned for it, where a page shows them. They are not part of
    the record.
    """

    kind: ClassVar[str] = "run"

    died: bool
    stage: str
    signal: str | None = None
    exit_code: int | None = None
    ended_by: str = ""
    op: OpSeen | None = None
    op_candidates: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    fault_address: int | None = None
    division: tuple[int, int] | None = None
    activity: dict[str, Any] = field(default_factory=dict)
    error_type: str = ""
    error_text: str = ""
    outputs: tuple[OutputSeen, ...] = ()
    peak_bytes: int | None = None
    baseline_bytes: int = 0
    timeline: tuple[Point, ...] = ()
    stages: tuple[tuple[str, float], ...] = ()
    stderr_tail: str = ""
    fault_trace: str = ""
    limits: dict[str, Any] = field(default_factory=dict)
    oom_kills: tuple[int, int] | None = None
    last_memory: dict[str, int] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)
    planned: dict[str, Any] = field(default_factory=dict)
    variables: tuple[dict[str, Any], ...] = ()
    runtime: dict[str, Any] = field(default_factory=dict)
    untraced: str = ""
    pid: int | None = None
    delegation: DelegationSeen | None = None
    resized: dict[int, tuple[int, ...]] | None = None
    unset_inputs: tuple[tuple[int, str], ...] = ()
    inside: InsideSeen | None = None
    values: dict[str, Any] = field(default_factory=dict, compare=False)
    source: Any = field(default=None, compare=False)
    judge: Any = field(default=None, compare=False)
    source_model: Any = field(default=None, compare=False)
    plan: Any = field(default=None, compare=False)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the rules say of it: why it ended badly, or what went wrong without a word.

        Of a record that no run of outlive made, nobody knows: `InternalError`. `diagnose` takes such a one.
        """
        if self.judge is None:
            raise InternalError("this record has no judge: ask for the findings of one that a run gave")
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

    def __repr__(self) -> str:
        """The model, and how it ended."""
        how = self.ended_by or self.signal or self.error_type or f"exit code {self.exit_code}"
        bad = self.died or self.error_type
        end = f"{'died' if self.died else 'refused'}: {how}, {self.stage}" if bad else "ran"
        name = safe(self.source, 80) if isinstance(self.source, str) else "a model"
        return f"<Flight of {name}: {end}>"

    def to_json(self) -> dict[str, Any]:
        """The document's body, with the names of the contract."""
        return {
            "died": self.died,
            "signal": self.signal,
            "exit_code": self.exit_code,
            "stage": self.stage,
            "ended_by": self.ended_by,
            "op": None if self.op is None else _fields(self.op),
            "op_candidates": list(self.op_candidates),
            "frames": list(self.frames),
            "fault_address": self.fault_address,
            "division": None if self.division is None else dict(zip(_DIVISION, self.division, strict=True)),
            "activity": self.activity,
            "error": {"type": self.error_type, "text": self.error_text} if self.error_type else None,
            "outputs": [_output(output) for output in self.outputs],
            "peak_bytes": self.peak_bytes,
            "baseline_bytes": self.baseline_bytes,
            "timeline": [point.to_json() for point in self.timeline],
            "stages": [{"stage": stage, "seconds": seconds} for stage, seconds in self.stages],
            "stderr_tail": self.stderr_tail,
            "fault_trace": self.fault_trace,
            "limits": self.limits,
            "oom_kills": None if self.oom_kills is None else list(self.oom_kills),
            "last_memory": self.last_memory,
            **({"machine": self.machine} if self.machine else {}),
            **({"planned": self.planned} if self.planned else {}),
            **({"variables": list(self.variables)} if self.variables else {}),
            "runtime": self.runtime,
            "untraced": self.untraced,
            "pid": self.pid,
            **({} if self.delegation is None else {"delegation": self.delegation.to_json()}),
            **({} if not self.resized else {"resized": _shapes(self.resized)}),
            **({"unset_inputs": list(self.unset_inputs)} if self.unset_inputs else {}),
            **({} if self.inside is None else {"inside": _inside(self.inside)}),
        }


def _shapes(resized: dict[int, tuple[int, ...]]) -> list[dict[str, Any]]:
    return [{"index": index, "shape": list(shape)} for index, shape in resized.items()]


def _fields(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__slots__}


def _inside(inside: InsideSeen) -> dict[str, Any]:
    """What is out of the ordinary: a record need not name each tensor of a model."""
    odd = [row for row in inside.tensors if row.not_finite or not (row.varies or inside.runs == 1)]
    return {
        "runs": inside.runs,
        "chosen": inside.chosen,
        "tensors": [_fields(row) for row in odd[:_MOST_TENSORS]],
    }


def _output(output: OutputSeen) -> dict[str, Any]:
    return {
        "name": output.name,
        "index": output.index,
        "shape": list(output.shape),
        "dtype": output.dtype,
        "min": output.minimum,
        "max": output.maximum,
        "sha256": output.sha256,
        **({} if output.untouched_bytes is None else {"untouched_bytes": output.untouched_bytes}),
        **({"not_finite": output.not_finite} if output.not_finite else {}),
    }
