"""From rounds to a verdict: a trend for each quantity, and what they say together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from outlive.growth.growth import LEAKS, NO_LEAK, UNCLEAR, CycleGrowth, LimitForecast, Round
from outlive.growth.trend import FEWEST, Trend, fit_trend
from outlive.units import format_bytes

_PAGE_BYTES = 4096
_BYTES = ("held_bytes", "heap_bytes", "mapped_bytes")
_COUNTS = ("descriptors", "threads")
# Less than this per round is bookkeeping: no process that runs for a year ends of it.
LEAST_BYTES = 64.0
# No leak is only said where one of this size would have been seen.
RESOLUTION_BYTES = 4096.0
# In few rounds every process goes up or down by some pages; what cannot be told from that is said so.
_WOBBLE_BYTES = 384 * 1024.0
# Address space comes in large pieces, and is not what a machine runs out of.
_RESOLUTION_MAPPED = 16384.0
_LEAST_COUNT = 0.02
_FASTER = 2.0
# One quantity speaks for another that grows no more than this much faster: they are the same memory.
_ALIKE_HEAP, _ALIKE_MAPPED = 1.03, 1.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The limits that growth runs into; None where one is not known."""

    memory_bytes: int | None = None
    limited_by: str = ""
    descriptors: int | None = None
    threads: int | None = None


def weigh(rounds: Sequence[Round], cycle: str = "call", fewest: int = FEWEST) -> CycleGrowth:
    """The verdict on one cycle; `fewest` points after the warm-up are enough."""
    names = (*_BYTES, "objects", *_COUNTS)
    trends = {name: trend for name in names if (trend := _trend(rounds, name, fewest))}
    judged = [trend for name, trend in trends.items() if name != "objects"]
    leading = _leading(trends)
    chosen = trends.get(leading, Trend(verdict="unclear", reason="this system does not report it"))
    if any(trend.verdict == "grows" for trend in judged):
        verdict = LEAKS
    elif judged and all(trend.verdict == "flat" for trend in judged):
        verdict = NO_LEAK
    else:
        verdict = UNCLEAR
    reason = next((f"{_words(n)}: {t.reason}" for n, t in trends.items() if t.verdict == "unclear"), "")
    return CycleGrowth(
        cycle=cycle,
        verdict=verdict,
        leading=leading,
        bytes_per_iteration=chosen.per_round,
        low=chosen.low,
        high=chosen.high,
        above=max(
            (trends[name].above for name in ("held_bytes", "heap_bytes") if name in trends), default=0.0
        ),
        reason=_other_growth(trends, chosen) if verdict == LEAKS else reason,
        trends=trends,
        rounds=tuple(rounds),
    )


def _other_growth(trends: Mapping[str, Trend], chosen: Trend) -> str:
    """In words, what may leak faster than what is known to leak."""
    for name in ("held_bytes", "heap_bytes"):
        trend = trends.get(name)
        if trend is not None and trend.verdict == "unclear" and trend.high > _FASTER * chosen.high:
            low, high = (format_bytes(round(max(0.0, size))) for size in (trend.low, trend.high))
            return f"{_words(name)} may grow faster, by {low} to {high} per round: {trend.reason}"
    return ""


def is_doubtful(stage: CycleGrowth) -> bool:
    """True if more rounds may show a small leak where none can be told yet."""
    return any(trend.doubtful for name, trend in stage.trends.items() if name != "objects")


def _trend(rounds: Sequence[Round], name: str, fewest: int) -> Trend | None:
    """The trend of a quantity; None if it was not measured."""
    values = [(float(row.calls), getattr(row, name)) for row in rounds if row.calls]
    if not values or any(value is None for _, value in values):
        return None
    points = [(calls, float(value)) for calls, value in values]
    if name not in _BYTES:
        return fit_trend(points, least=_LEAST_COUNT, resolution=_LEAST_COUNT, fewest=fewest)
    resolution = _RESOLUTION_MAPPED if name == "mapped_bytes" else RESOLUTION_BYTES
    resolution = max(resolution, _WOBBLE_BYTES / points[-1][0])
    return fit_trend(points, least=LEAST_BYTES, resolution=resolution, grain=_PAGE_BYTES, fewest=fewest)


def _leading(trends: Mapping[str, Trend]) -> str:
    """The quantity to speak of: memory in RAM, unless more was asked for than was ever touched."""
    growing = [name for name in _BYTES if name in trends and trends[name].verdict == "grows"]
    if not growing:
        return "held_bytes"
    leading = growing[0]
    for name in growing[1:]:
        alike = _ALIKE_HEAP if name == "heap_bytes" else _ALIKE_MAPPED
        if trends[name].per_round > alike * trends[leading].per_round:
            leading = name
    return leading


def _words(name: str) -> str:
    return {
        "held_bytes": "resident memory",
        "heap_bytes": "native heap",
        "mapped_bytes": "mapped memory",
        "objects": "Python objects",
    }.get(name, name)


def forecast_limits(stage: CycleGrowth, room: Room) -> tuple[LimitForecast, ...]:
    """When each limit is reached, the first first."""
    if not stage.rounds:
        return ()
    last = stage.rounds[-1]
    limits = (
        ("held_bytes", room.memory_bytes, room.limited_by),
        ("descriptors", room.descriptors, "RLIMIT_NOFILE"),
        ("threads", room.threads, "RLIMIT_NPROC"),
    )
    found = []
    for name, limit, limited_by in limits:
        now = getattr(last, name)
        if limit is None or now is None or not stage.grows(name) or _is_aside(stage, name):
            continue
        rounds = max(0, int((limit - now) / stage.trends[name].per_round))
        seconds = rounds * last.call_seconds / max(1, last.calls)
        found.append(
            LimitForecast(what=name, limit=limit, limited_by=limited_by, rounds=rounds, seconds=seconds)
        )
    return tuple(sorted(found, key=lambda end: end.rounds))


def _is_aside(stage: CycleGrowth, name: str) -> bool:
    """True for memory in RAM that grows a little beside what really grows."""
    return name == "held_bytes" and stage.trends[name].per_round < stage.bytes_per_iteration / 4


def describe_forecast(end: LimitForecast) -> str:
    """When it would end, in words."""
    amount = format_bytes(end.limit) if end.what == "held_bytes" else f"{end.limit:,} {end.what}"
    by = f" ({end.limited_by})" if end.limited_by else ""
    return f"{amount}{by} reached after {end.rounds:,} more rounds, {_duration(end.seconds)}"


def _duration(seconds: float) -> str:
    for size, word in ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * size:
            return f"about {seconds / size:,.0f} {word}"
    return f"about {seconds:,.0f} seconds" if seconds >= 1 else "less than a second"
