"""What a diagnosis is made of: conditions, trials, and what they come to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from outlive.finding import Finding
from outlive.interpreter.judge import Judge
from outlive.model import Model
from outlive.process.flight import Flight, OpSeen
from outlive.records import NOT_WRITTEN, ModelPath, in_document, written
from outlive.results import Result, file_name

# The name of the trial in which nothing is changed.
AS_IT_IS = "as it is"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Conditions:
    """How a model is flown. `source` is a path, or the model's bytes.

    `shapes` are other shapes for inputs, by index: those of given arrays, where the model leaves them open.
    """

    source: str | bytes = field(repr=False, metadata=NOT_WRITTEN)
    inputs: Any = field(default=None, metadata=NOT_WRITTEN)
    accelerator: str = "cpu"
    threads: int | None = None
    memory_bytes: int | None = None
    seconds: float | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    shapes: Mapping[int, tuple[int, ...]] = field(default_factory=dict, metadata=NOT_WRITTEN)
    # Says what its end means.
    judge: Judge = field(default=Judge(), repr=False, compare=False, metadata=NOT_WRITTEN)

    @property
    @in_document()
    def from_bytes(self) -> bool:
        """True if the model was given as bytes."""
        return isinstance(self.source, bytes)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trial:
    """One flight, what was different about it, and the finding of a call that was refused."""

    name: str
    seconds: float
    conditions: Conditions = field(repr=False)
    flight: Flight = field(metadata=written(flat=True))
    refusal: Finding | None = field(default=None, metadata=NOT_WRITTEN)

    @property
    @in_document()
    def manner(self) -> str:
        """How it ended, so far that two ends can be called the same: ran, died, deadline or refused."""
        if self.flight.ended_by == "deadline":
            return "deadline"
        if self.flight.died:
            return "died"
        return "refused" if self.flight.error_type else "ran"

    @property
    def ran(self) -> bool:
        """True if it came back with its outputs."""
        return self.manner == "ran"

    @property
    def ending(self) -> str:
        """The end in a few words: `SIGSEGV, invoke, op 3 CONV_2D`."""
        flight = self.flight
        if self.ran:
            return "ran"
        how = flight.signal or flight.error_type or "gone"
        words = [f"ended at the {flight.ended_by} limit" if flight.ended_by else how, flight.stage]
        if flight.op is not None:
            index = "" if flight.op.index is None else f"op {flight.op.index} "
            graph = f"subgraph {flight.op.subgraph} " if flight.op.subgraph else ""
            words.append(f"{graph}{index}{flight.op.type}")
        return ", ".join(words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproducer:
    """The smallest model found that ends the same way: its path, operators of the whole, and size."""

    path: str
    ops: tuple[int, ...]
    bytes: int
    script: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseVerdict:
    """The cause, the operator it is about, the finding that says so, and how sure that is."""

    cause: str
    finding: Finding
    op: OpSeen | None = None
    ruled_out: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Diagnosis(Result):
    """Why a model died, hung or was refused; `cause` is a word of the taxonomy, empty if it runs.

    `op` is the operator to blame, `running` the one that native frames name, `needed` the one with which the
    first prefix of the model ends the same way: they mostly agree. `trials[0]` is the model as it is,
    `source` the model as it was read.
    """

    kind: ClassVar[str] = "diagnose"
    tables = (("trials", Trial),)

    path: str | None = field(metadata=NOT_WRITTEN)
    verdict: Finding | None
    cause: str = field(metadata=written(null=True))
    stage: str
    signal: str | None
    op: OpSeen | None
    running: OpSeen | None = field(metadata=written("running_op"))
    needed: OpSeen | None = field(metadata=written("needed_op"))
    works_with: tuple[str, ...]
    ruled_out: tuple[str, ...] = ()
    reproducer: Reproducer | None = None
    trials: tuple[Trial, ...] = field(repr=False, metadata=written("flights"))
    findings: tuple[Finding, ...] = field(repr=False)
    end: Trial | None = field(default=None, metadata=NOT_WRITTEN)
    source: Model | None = field(default=None, metadata=NOT_WRITTEN)

    @property
    def outcome(self) -> str:
        """What it came to, in one word: clean, errors or died."""
        return "died" if self.died else "clean" if self.verdict is None else "errors"

    @property
    @in_document()
    def model(self) -> ModelPath:
        """The file that was diagnosed."""
        return ModelPath(path=self.path)

    @property
    @in_document()
    def died(self) -> bool:
        """True if a trial of the model as it is, or of inputs it may be given, took its process along."""
        return self.end is not None and self.end.manner in ("died", "deadline")

    @property
    def refused(self) -> bool:
        """True if the runtime, or a check before it, refused it and no process died."""
        return not self.died and self.verdict is not None

    @property
    def silent(self) -> tuple[Finding, ...]:
        """What is wrong with a run that came back and said nothing."""
        return () if self.end is not None else tuple(item for item in self.findings if item.code[:1] in "DS")

    @property
    def flights(self) -> tuple[Flight, ...]:
        """Every flight, in the order they were flown."""
        return tuple(trial.flight for trial in self.trials)

    def _summary(self) -> tuple[str, str]:
        """The model, the cause, and the headline of the verdict."""
        verdict = "it runs" if self.verdict is None else f"{self.verdict.code} {self.verdict.headline}"
        cause = f"{self.cause}, " if self.cause else ""
        return file_name(self.path or "a run"), f"{cause}{verdict}"
