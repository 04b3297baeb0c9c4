"""What grows when something is repeated: rounds as they were measured, and what that comes to.

rounds ──> a Trend for each quantity ──> CycleGrowth: one cycle's verdict ──> Growth: all of them
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from outlive.finding import Finding, Severity
from outlive.growth.trend import Trend
from outlive.names import safe
from outlive.process.flight import Flight
from outlive.records import NOT_WRITTEN, in_document, written
from outlive.results import Listed, file_name
from outlive.units import format_bytes

LEAKS, NO_LEAK, UNCLEAR = "leaks", "no leak", "not enough evidence"
_WORST_FIRST = {LEAKS: 0, UNCLEAR: 1, NO_LEAK: 2}
# A curve of this many points is as fine as any screen.
_MOST_POINTS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What a process held after so many calls; None for what its system does not tell.

    `held_bytes` are in RAM and the process's own, `heap_bytes` what malloc has given out and not got back,
    `mapped_bytes` the address space without the stacks of threads.
    """

    calls: int
    seconds: float
    call_seconds: float
    held_bytes: int | None = None
    heap_bytes: int | None = None
    mapped_bytes: int | None = None
    objects: int | None = None
    descriptors: int | None = None
    threads: int | None = None

    @classmethod
    def from_row(cls, row: Mapping[str, Any], start: float) -> Round:
        """The round that a worker's row tells of; `start` is the worker's clock at the beginning."""
        private, shared = _amount(row, "private_bytes"), _amount(row, "shared_bytes")
        return cls(
            calls=int(row["calls"]),
            seconds=float(row["at"]) - start,
            call_seconds=float(row["call_seconds"]),
            held_bytes=None if private is None else private + (shared or 0),
            heap_bytes=_amount(row, "heap_bytes"),
            mapped_bytes=_amount(row, "mapped_bytes"),
            objects=_amount(row, "objects"),
            descriptors=_amount(row, "descriptors"),
            threads=_amount(row, "threads"),
        )


def count_words(rate: float, what: str) -> str:
    """`1 thread`, `2.5 threads`."""
    number = f"{rate:.3g}"
    return f"{number} {what.removesuffix('s') if number == '1' else what}"


def _amount(row: Mapping[str, Any], name: str) -> int | None:
    value = row.get(name)
    return value if isinstance(value, int) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeper:
    """Python objects that became more: what kind, how many per round, how large one is, and who keeps them.

    `container` is what they were put into, or empty where only their type is known. `plain` says that they
    can hold no memory but what Python counts. `kept_by` names the links from the outermost keeper inwards.
    """

    kind: str = field(metadata=written("type"))
    per_round: float
    bytes_each: int
    plain: bool = field(default=True, metadata=NOT_WRITTEN)
    container: str = ""
    kept_by: tuple[str, ...] = ()

    @property
    def bytes_per_round(self) -> float:
        """What these objects add in each round, as far as Python knows."""
        return self.per_round * self.bytes_each


class PerRound(NamedTuple):
    """What became more, and by how much in each round."""

    name: str
    per_round: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """What some rounds left behind, by name; numbers are per round, of mappings and sites in bytes.

    `sites` are the lines and native functions that asked for it, where memray could say so.
    """

    rounds: int
    keepers: tuple[Keeper, ...] = field(default=(), metadata=written("objects"))
    descriptors: tuple[PerRound, ...] = ()
    threads: tuple[PerRound, ...] = ()
    mappings: tuple[PerRound, ...] = ()
    sites: tuple[PerRound, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitForecast:
    """When a limit is reached at the measured rate: after how many more rounds, and in how many seconds."""

    what: str
    limit: int
    limited_by: str
    rounds: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A quantity with its trend."""

    name: str
    trend: Trend = field(metadata=written(flat=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleGrowth:
    """One cycle, repeated: what was measured and what it comes to.

    `leading` is the quantity that the numbers are about. `problem` says in words why it could not be
    repeated, or what ended it, and `flight` is the record of a death; what was measured before that stands.
    """

    cycle: str
    verdict: str
    bytes_per_iteration: float = 0.0
    low: float = 0.0
    high: float = 0.0
    above: float = 0.0
    leading: str = "held_bytes"
    reason: str = ""
    problem: str = ""
    trends: Mapping[str, Trend] = field(default_factory=dict, metadata=NOT_WRITTEN)
    ends: tuple[LimitForecast, ...] = ()
    census: Census | None = field(default=None, metadata=written("grew"))
    rounds: tuple[Round, ...] = ()
    flight: Flight | None = None

    @property
    @in_document()
    def quantities(self) -> tuple[Quantity, ...]:
        """The quantities with their trends."""
        return tuple(Quantity(name=name, trend=trend) for name, trend in self.trends.items())

    @property
    @in_document("rounds")
    def curve(self) -> tuple[Round, ...]:
        """As many of the rounds as a drawing shows."""
        return self.rounds[:: max(1, len(self.rounds) // _MOST_POINTS)]

    @property
    @in_document()
    def calls(self) -> int:
        """How often the cycle was gone through."""
        return self.rounds[-1].calls if self.rounds else 0

    def grows(self, what: str) -> bool:
        """True if this quantity grows without end."""
        trend = self.trends.get(what)
        return trend is not None and trend.verdict == "grows"

    def __str__(self) -> str:
        """The verdict in a sentence."""
        if self.verdict == LEAKS:
            return f"leaks {self._rates()}, after {self.calls:,} rounds"
        if self.verdict == NO_LEAK:
            return f"no leak above {format_bytes(round(self.above))} per round, after {self.calls:,} rounds"
        why = safe(self.problem or self.reason)
        return f"not enough evidence after {self.calls:,} rounds" + (f": {why}" if why else "")

    def _rates(self) -> str:
        counts = [
            f"{count_words(self.trends[what].per_round, what)} per round"
            for what in ("descriptors", "threads")
            if self.grows(what)
        ]
        if any(self.grows(what) for what in ("held_bytes", "heap_bytes", "mapped_bytes")):
            size, low, high = (
                format_bytes(round(value)) for value in (self.bytes_per_iteration, self.low, self.high)
            )
            counts.insert(0, f"{size} per round ({low} to {high})")
        return " and ".join(counts)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Growth(Listed[CycleGrowth]):
    """Whether something grows when it is repeated: the verdict of its worst stage, and all stages.

    `verdict` is "leaks", "no leak" or "not enough evidence". `bytes_per_iteration` lies between `low` and
    `high` (99 %), both included; without a leak there may be one of at most `above` bytes per round.
    """

    kind: ClassVar[str] = "leak"
    tables = (("stages", CycleGrowth),)
    row_names = ("cycle",)

    what: str
    stages: tuple[CycleGrowth, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def outcome(self) -> str:
        """What it came to, in one word: clean, errors or died."""
        if self.died:
            return "died"
        return "errors" if any(item.severity is Severity.ERROR for item in self.findings) else "clean"

    @property
    def worst(self) -> CycleGrowth:
        """The stage that leaks most; without a leak, the one that is known least well."""
        measured = [stage for stage in self.stages if stage.rounds] or list(self.stages)
        return min(measured, key=lambda stage: (_WORST_FIRST[stage.verdict], -stage.bytes_per_iteration))

    @property
    @in_document()
    def verdict(self) -> str:
        """The verdict of the worst stage."""
        return self.worst.verdict

    @property
    def leaks(self) -> bool:
        """True if something grows without end."""
        return self.verdict == LEAKS

    @property
    @in_document()
    def bytes_per_iteration(self) -> float:
        """The rate of the worst stage."""
        return self.worst.bytes_per_iteration

    @property
    @in_document()
    def low(self) -> float:
        """The lower end of its interval."""
        return self.worst.low

    @property
    @in_document()
    def high(self) -> float:
        """The upper end of its interval."""
        return self.worst.high

    @property
    @in_document()
    def above(self) -> float:
        """Growth above this much per round would have been seen."""
        return max(stage.above for stage in self.stages)

    @property
    def flight(self) -> Any:
        """The record of the first death, or of the runtime's refusal; None if all went well."""
        return next((stage.flight for stage in self.stages if stage.flight is not None), None)

    @property
    @in_document()
    def died(self) -> bool:
        """True if a worker died, or had to be ended, during the rounds."""
        return any(stage.flight is not None and stage.flight.died for stage in self.stages)

    def __str__(self) -> str:
        """The verdict of every stage, a line each."""
        if len(self.stages) == 1:
            return f"{safe(self.what)}: {self.stages[0]}"
        return "\n".join([f"{safe(self.what)}:", *(f"  {stage.cycle}: {stage}" for stage in self.stages)])

    def _summary(self) -> tuple[str, str]:
        """What was repeated, and the verdict of the worst stage."""
        return file_name(self.what), str(self.worst)
