"""A timeline keeps what matters however much is thinned out, and goes through JSON unchanged."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive.meter import Point, Timeline, how_it_rose, thin
from outlive.meter.timeline import MOST_POINTS

NAMES = st.sampled_from(["load", "allocate", "invoke"])
POINTS = st.lists(
    st.builds(
        Point,
        seconds=st.floats(0, 1e6),
        bytes=st.integers(-(1 << 40), 1 << 40),
        rss_bytes=st.integers(0, 1 << 40),
        mark=st.none() | st.none() | NAMES,
    ),
    max_size=120,
).map(lambda points: sorted(points, key=lambda point: point.seconds))


def timeline(points: tuple[Point, ...]) -> Timeline:
    return Timeline(points=points, baseline_bytes=5)


@given(POINTS, st.integers(10, 60))
def test_thinning_keeps_peaks_ends_and_marks(points: list[Point], most: int) -> None:
    thinned = thin(points, most)
    assert len(thinned) <= most
    assert len(thinned) >= min(len(points), 1)
    whole, part = timeline(tuple(points)), timeline(thinned)
    assert part.peak_bytes == whole.peak_bytes
    assert part.peak_rss_bytes == whole.peak_rss_bytes
    assert thinned[:1] == tuple(points[:1])
    assert thinned[-1:] == tuple(points[-1:])
    marks = [point.mark for point in whole.marks]
    if len(marks) <= most - 4:
        assert part.marks == whole.marks
    for name in set(marks):
        same = [point for point in whole.marks if point.mark == name]
        assert same[0] in thinned
        assert same[-1] in thinned


@given(POINTS, st.integers(10, 60))
def test_thinning_keeps_order_and_invents_nothing(points: list[Point], most: int) -> None:
    rest = iter(points)
    assert all(point in rest for point in thin(points, most))


@given(POINTS, st.integers(10, 60))
def test_thinning_twice_changes_no_more(points: list[Point], most: int) -> None:
    once = thin(points, most)
    assert thin(once, most) == once


def test_thinning_is_even_in_time() -> None:
    points = [Point(seconds=second / 10, bytes=second % 7, rss_bytes=0) for second in range(10_000)]
    thinned = thin(points, 100)
    gaps = [later.seconds - earlier.seconds for earlier, later in pairwise(thinned)]
    assert 90 <= len(thinned) <= 100
    assert max(gaps) < 2.5 * 1000 / 96


def test_a_short_rise_is_not_thinned_away() -> None:
    points = [
        Point(seconds=second, bytes=100 if second in (300, 700) else 1, rss_bytes=1) for second in range(1000)
    ]
    assert [point.seconds for point in thin(points, 40) if point.bytes == 100] == [300, 700]


@given(POINTS)
def test_json_round_trip(points: list[Point]) -> None:
    whole = timeline(tuple(points))
    rows = json.loads(json.dumps(whole.to_json()))
    assert Timeline.from_json(rows, baseline_bytes=5) == whole
    assert all(list(row) == ["seconds", "bytes", "rss_bytes", "mark"] for row in rows)


def test_an_empty_timeline_has_no_peak() -> None:
    empty = Timeline(points=(), baseline_bytes=0)
    assert (empty.peak_bytes, empty.peak_rss_bytes, empty.marks, empty.to_json()) == (0, 0, (), [])
    assert thin((), MOST_POINTS) == ()


def test_odd_json_gives_points_all_the_same() -> None:
    point = Timeline.from_json([{"seconds": "soon", "bytes": None, "mark": 3}]).points[0]
    assert point == Point(seconds=0.0, bytes=0, rss_bytes=0, mark=None)


@pytest.mark.parametrize(
    ("levels", "how"),
    [
        ([0, 10, 20, 30, 40, 50, 60], "steadily"),
        ([0, 10, 20, 30, 40, 50, 60, 5, 0], "steadily"),  # what came after the peak is no part of it
        ([0, 1, 1, 1, 1, 60], "at once"),
        ([0, 0, 60, 60, 60], "at once"),
        ([0, 20, 20, 20, 20, 20, 40, 40, 40, 40, 60], "in steps"),
        ([0, 20, 40, 60], "fast"),
        ([0, 60], None),
        ([0, 0.1, 0.2, 0.3], None),
        ([60, 50, 40], None),
    ],
)
def test_how_memory_rose(levels: list[float], how: str | None) -> None:
    points = [
        Point(seconds=at / 10, bytes=int(level * (1 << 20)), rss_bytes=0) for at, level in enumerate(levels)
    ]
    rise = how_it_rose(points)
    assert (rise.how if rise else None) == how


@given(POINTS)
def test_any_rise_can_be_told(points: list[Point]) -> None:
    rise = how_it_rose(points)
    assert rise is None or rise.bytes >= 0 < rise.largest_bytes
