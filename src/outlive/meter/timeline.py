"""Memory over time: points, some of them marked with what began there, and their peak."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from outlive.records import part_of, written

# Enough for a drawing as wide as any screen; a point is about 100 bytes of JSON.
MOST_POINTS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Memory at one moment: seconds from the start, private bytes above the baseline, resident bytes.

    `gpu_bytes` is GPU memory held; None where it was not measured.
    """

    seconds: float
    bytes: int
    rss_bytes: int
    mark: str | None = None
    gpu_bytes: int | None = field(default=None, metadata=written(omit=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """What a process held over time, above what it held before the model came."""

    points: tuple[Point, ...]
    baseline_bytes: int

    @property
    def peak_bytes(self) -> int:
        """The most private memory above the baseline; 0 if nothing was seen."""
        return max((point.bytes for point in self.points), default=0)

    @property
    def peak_rss_bytes(self) -> int:
        """The most resident memory; 0 if nothing was seen."""
        return max((point.rss_bytes for point in self.points), default=0)

    @property
    def marks(self) -> tuple[Point, ...]:
        """The points where something began or ended, in order."""
        return tuple(point for point in self.points if point.mark is not None)

    def to_json(self) -> list[dict[str, float | int | str | None]]:
        """One object per point, as a Flight's `timeline` has them."""
        rows: list[dict[str, float | int | str | None]] = [part_of(point) for point in self.points]
        return rows

    @classmethod
    def from_json(cls, rows: Iterable[Mapping[str, object]], baseline_bytes: int = 0) -> Timeline:
        """The timeline that `to_json` has written."""
        return cls(points=tuple(map(_point, rows)), baseline_bytes=baseline_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rise:
    """How memory rose to its peak: "at once" (most of it between two looks), "steadily" or "in steps".

    It is "fast" where it took a moment, or there were too few looks on the way to tell. `bytes` is the whole
    rise, `largest_bytes` its largest step, `seconds` from a tenth of it to the peak.
    """

    how: Literal["at once", "fast", "steadily", "in steps"]
    bytes: int
    largest_bytes: int
    seconds: float


# A rise below this is noise; of an even one each quarter has its share, give or take.
_LEAST_RISE, _ONE_STEP, _FEWEST, _MOMENT_S, _EVEN = 1 << 20, 0.6, 5, 0.1, (0.4, 1.8)


def how_it_rose(points: Sequence[Point]) -> Rise | None:
    """The way to the peak; None where there was none, or too few looks to tell."""
    if len(points) < 3:
        return None
    top = max(range(len(points)), key=lambda index: points[index].bytes)
    way = points[: top + 1]
    total = way[-1].bytes - way[0].bytes
    largest = max((b.bytes - a.bytes for a, b in pairwise(way)), default=0)
    if total < _LEAST_RISE:
        return None
    climb = [point for point in way if point.bytes - way[0].bytes >= 0.1 * total]
    seconds = climb[-1].seconds - climb[0].seconds
    if largest >= _ONE_STEP * total:
        return Rise(how="at once", bytes=total, largest_bytes=largest, seconds=seconds)
    if len(climb) < _FEWEST or seconds < _MOMENT_S:
        return Rise(how="fast", bytes=total, largest_bytes=largest, seconds=seconds)
    how: Literal["steadily", "in steps"] = "steadily" if _is_even(climb) else "in steps"
    return Rise(how=how, bytes=total, largest_bytes=largest, seconds=seconds)


def _is_even(climb: Sequence[Point]) -> bool:
    """True if each quarter of the time brought about a quarter of the rise."""
    first, last = climb[0], climb[-1]
    if last.seconds <= first.seconds:
        return False
    at = [first.seconds + quarter * (last.seconds - first.seconds) / 4 for quarter in range(5)]
    levels = [_level(climb, moment) for moment in at]
    share = (levels[-1] - levels[0]) / 4
    return all(_EVEN[0] * share <= b - a <= _EVEN[1] * share for a, b in pairwise(levels))


def _level(points: Sequence[Point], moment: float) -> float:
    """Bytes at a moment, on the line between the looks before and after it."""
    after = next((index for index, point in enumerate(points) if point.seconds >= moment), len(points) - 1)
    before = max(0, after - 1)
    a, b = points[before], points[after]
    part = (moment - a.seconds) / (b.seconds - a.seconds) if b.seconds > a.seconds else 1.0
    return a.bytes + min(1.0, max(0.0, part)) * (b.bytes - a.bytes)


def thin(points: Sequence[Point], most: int = MOST_POINTS) -> tuple[Point, ...]:
    """At most `most` of the points, even in time; with the first, the last, both peaks and the marks.

    Where the marks alone are too many, the first and the last of each name stay and some of the others; only
    more names than room for them make the result longer.
    """
    if len(points) <= most:
        return tuple(points)
    kept = _indispensable(points)
    marked = [index for index, point in enumerate(points) if point.mark is not None]
    room = max(0, most - len(kept))
    kept |= set(marked) if len(kept | set(marked)) <= most else set(_spread(marked, room))
    kept |= _highest(points, max(0, most - len(kept)))
    return tuple(points[index] for index in sorted(kept))


def _indispensable(points: Sequence[Point]) -> set[int]:
    """First, last, the peaks, and the first and the last of each mark."""
    order = range(len(points))
    kept = {
        0,
        len(points) - 1,
        max(order, key=lambda index: points[index].bytes),
        max(order, key=lambda index: points[index].rss_bytes),
    }
    named = [(points[index].mark, index) for index in order if points[index].mark is not None]
    kept.update(dict(named).values())
    kept.update(dict(reversed(named)).values())
    return kept


def _spread(items: Sequence[int], count: int) -> list[int]:
    """`count` of the items, at even distances."""
    return [items[position * len(items) // count] for position in range(count)]


def _highest(points: Sequence[Point], count: int) -> set[int]:
    """The highest point of each of `count` equal stretches of time: a short rise is not lost."""
    start, span = points[0].seconds, points[-1].seconds - points[0].seconds
    best: dict[int, int] = {}
    for index, point in enumerate(points):
        slot = min(count - 1, int((point.seconds - start) / span * count)) if span > 0 else 0
        if slot not in best or point.bytes > points[best[slot]].bytes:
            best[slot] = index
    return set(best.values()) if count else set()


def _point(row: Mapping[str, object]) -> Point:
    names = ("seconds", "bytes", "rss_bytes", "mark", "gpu_bytes")
    seconds, size, rss, mark, gpu = (row.get(key) for key in names)
    return Point(
        seconds=float(seconds) if isinstance(seconds, (int, float)) else 0.0,
        bytes=size if isinstance(size, int) else 0,
        rss_bytes=rss if isinstance(rss, int) else 0,
        mark=mark if isinstance(mark, str) else None,
        gpu_bytes=gpu if isinstance(gpu, int) else None,
    )
