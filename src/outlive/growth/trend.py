"""Does a quantity grow without end? A rate with an interval, from what was measured round by round.

    points ──> the first third is warm-up and left out ──> blocks, each with its middle value
           ──> steps from block to block, as rates ──> their mean, and how sure it is ──> Trend

Steps between blocks, and not a line through the points, because memory wanders: where it goes next depends on
where it is, and a line through such points looks far surer than it is. Against the rest:
- a cache that fills and stops, fragmentation that levels off: later steps are smaller than earlier ones;
- a sawtooth: what it gains in many steps it loses in few, and its steps differ as much as the teeth are high;
- something made once: one or two steps upwards that are unlike all others are left out, downwards never.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

Points = Sequence[tuple[float, float]]  # how many rounds were over, and the quantity then

WARM_UP_SHARE = 1 / 3
_BLOCKS = 12
# So many points after the warm-up; fewer may do where no more can be had.
FEWEST, FEWEST_OF_ALL = 6, 4
_MOST_JUMPS = 2
_JUMP_SPREADS = 6.0
# The later half must grow at least this much as fast: at a rate that falls like 1/n it grows 0.58 times.
_STEADY = 0.7
# Von Neumann's ratio: 2 for values that know nothing of each other, far below 1 for a random walk.
_COMES_BACK = 1.3
# What allocators add to a request, and pages round up, is part of a leak and not of what its author counts.
# Small pieces take a tenth more than was asked for (16 bytes for 100 in glibc), and nothing takes less.
_OVERHEAD_LOW, _OVERHEAD_HIGH = 0.1, 0.02

# Student's t by degrees of freedom: 99.9 % one-sided to cry leak, 99 % two-sided for intervals.
_T_SURE = {
    2: 22.33,
    3: 10.21,
    4: 7.173,
    5: 5.893,
    6: 5.208,
    7: 4.785,
    8: 4.501,
    9: 4.297,
    10: 4.144,
    11: 4.025,
}
_T_INTERVAL = {
    2: 9.925,
    3: 5.841,
    4: 4.604,
    5: 4.032,
    6: 3.707,
    7: 3.499,
    8: 3.355,
    9: 3.25,
    10: 3.169,
    11: 3.106,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """How a quantity changes per round once it is warm: the rate, its 99 % interval, and what that means.

    `verdict` is "grows", "flat" (not by more than `above` per round) or "unclear", with the reason in words.
    `doubtful` is a flat one that may grow by less than can be told yet.
    """

    verdict: str
    per_round: float = 0.0
    low: float = 0.0
    high: float = 0.0
    above: float = 0.0
    reason: str = ""
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class _Rate:
    """The mean of some steps and the error of that mean."""

    mean: float
    error: float
    count: int

    def low(self, table: dict[int, float]) -> float:
        return self.mean - table[self.count - 1] * self.error

    def high(self, table: dict[int, float]) -> float:
        return self.mean + table[self.count - 1] * self.error


def fit_trend(
    points: Points, *, least: float, resolution: float, grain: float = 0.0, fewest: int = FEWEST
) -> Trend:
    """The trend of a quantity, per round.

    Growth below `least` is not called growth. A flat verdict needs an interval that ends below `resolution`.
    `grain` is the piece in which the quantity comes, such as a page, `fewest` the points it takes.
    """
    tail = after_warm_up(points)
    middles = _middles(tail)
    steps = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(middles)]
    if len(tail) < fewest or len(steps) < fewest - 1:
        return Trend(verdict="unclear", reason="too few rounds were measured")
    kept = _without_jumps(steps)
    rate, whole = _rate(kept), _bounded(middles) or _rate(steps)
    width = tail[-1][0] - tail[0][0]
    above = max(whole.high(_T_INTERVAL), grain / width, 0.0)
    if rate.low(_T_SURE) > least and _is_steady(kept):
        return _growing(rate, above, grain)
    found = Trend(
        verdict="flat",
        per_round=whole.mean,
        low=whole.low(_T_INTERVAL),
        high=whole.high(_T_INTERVAL),
        above=above,
        doubtful=rate.low(_T_INTERVAL) > least,
    )
    return (
        found if above <= resolution else replace(found, verdict="unclear", reason=_reason(rate, kept, least))
    )


def after_warm_up(points: Points) -> Points:
    """The points of the last two thirds of all rounds."""
    if not points:
        return ()
    start = points[-1][0] * WARM_UP_SHARE
    return [point for point in points if point[0] > start]


def _middles(tail: Points) -> list[tuple[float, float]]:
    """The tail in blocks of equally many rounds: the middle of each."""
    if len(tail) < 2:
        return []
    first, last = tail[0][0], tail[-1][0]
    count = min(_BLOCKS, len(tail))
    blocks: dict[int, list[tuple[float, float]]] = {}
    for x, y in tail:
        place = int((x - first) / (last - first) * count)
        blocks.setdefault(min(count - 1, place), []).append((x, y))
    return [
        (statistics.fmean(x for x, _ in block), statistics.median(y for _, y in block))
        for block in blocks.values()
    ]


def _bounded(middles: Points) -> _Rate | None:
    """The rate of a line, where the middles go back to it again and again; None where they wander.

    Of what always comes back, a sawtooth or plain noise, much smaller growth can be ruled out.
    """
    slope, level = statistics.linear_regression(*zip(*middles, strict=True))
    off = [y - level - slope * x for x, y in middles]
    squares = sum(value * value for value in off)
    if sum((b - a) ** 2 for a, b in pairwise(off)) < _COMES_BACK * squares:
        return None
    spread = math.sqrt(squares / max(1, len(off) - 2))
    across = math.sqrt(len(middles) * statistics.pvariance([x for x, _ in middles]))
    return _Rate(slope, spread / across, len(middles) - 1)


def _without_jumps(steps: Sequence[float]) -> list[float]:
    """The steps without one or two upward ones that are unlike all others."""
    kept = list(steps)
    for _ in range(_MOST_JUMPS):
        largest = max(kept)
        rest = list(kept)
        rest.remove(largest)
        middle = statistics.median(rest)
        spread = max(statistics.pstdev(rest), 0.05 * abs(middle))
        if len(rest) < FEWEST - 1 or largest <= middle + _JUMP_SPREADS * spread:
            break
        kept = rest
    return kept


def _rate(steps: Sequence[float]) -> _Rate:
    spread = statistics.stdev(steps) if len(steps) > 1 else math.inf
    return _Rate(statistics.fmean(steps), spread / math.sqrt(len(steps)), len(steps))


def _is_steady(steps: Sequence[float]) -> bool:
    """True if the later half grows about as fast as the earlier, and no long part stands still."""
    half = len(steps) // 2
    earlier, later = statistics.fmean(steps[:half]), statistics.fmean(steps[-half:])
    third = max(2, len(steps) // 3)
    parts = [statistics.fmean(steps[at : at + third]) for at in range(0, len(steps) - third + 1, third)]
    mean = statistics.fmean(steps)
    return later >= _STEADY * earlier and min(parts) > mean / 4


def _growing(rate: _Rate, above: float, grain: float) -> Trend:
    below, above_it = (
        max(share * rate.mean, min(grain, rate.mean / 2)) if grain else 0.0
        for share in (_OVERHEAD_LOW, _OVERHEAD_HIGH)
    )
    return Trend(
        verdict="grows",
        per_round=rate.mean,
        low=max(0.0, rate.low(_T_INTERVAL) - below),
        high=rate.high(_T_INTERVAL) + above_it,
        above=above,
    )


def _reason(rate: _Rate, steps: Sequence[float], least: float) -> str:
    if rate.low(_T_INTERVAL) > least:
        return "growth slowed down or paused: it may stop"
    if max(steps) > 0 and statistics.median(steps) == 0:
        return "it grew in a few large steps; their frequency is not known yet"
    return "it varies more than a leak would add in these rounds"
