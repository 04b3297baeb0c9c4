"""The best fit against the runtime's own loop, written down plainly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive.arena.builtin import best_fit
from outlive.arena.builtin.best_fit import FOREVER, BestFitArena, aligned

# Bytes, first operator, last operator.
Request = tuple[int, int, int]
OPERATORS = 40


def plainly(requests: list[Request]) -> list[int]:
    """Each tensor against all that are placed, in order of their offsets: slow, and easy to believe."""
    placed: list[tuple[int, int, int, int]] = []
    offsets = []
    for size, first, last in requests:
        best, gap, current = -1, -1, 0
        for offset, end, begin, until in sorted(placed):
            if until < first or begin > last:
                continue
            start = aligned(current)
            if start + size <= offset and (best < 0 or offset - start < gap):
                best, gap = start, offset - current
            current = max(current, end)
            if gap == 0:
                break
        place = best if best >= 0 else aligned(current)
        placed.append((place, place + size, first, last))
        offsets.append(place)
    return offsets


@st.composite
def requests(draw: st.DrawFn) -> Request:
    first = draw(st.integers(0, OPERATORS - 1))
    last = draw(st.one_of(st.just(FOREVER), st.integers(first, min(first + 9, OPERATORS - 1))))
    return draw(st.sampled_from([1, 4, 60, 64, 65, 100, 200, 1000, 5000])), first, last


@pytest.mark.parametrize("crowded", [0, 4, 96])
@given(wanted=st.lists(requests(), max_size=60))
def test_offsets_are_those_of_the_plain_way(crowded: int, wanted: list[Request]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(best_fit, "_CROWDED", crowded)  # 0: all through the arrays
        arena = BestFitArena(OPERATORS)
        assert [arena.place(*request) for request in wanted] == plainly(wanted)
    assert not arena.exhausted


def test_a_gap_is_compared_aligned_and_kept_unaligned() -> None:
    """Two gaps of 128 bytes, one behind a tensor of 65: by its true start it is larger, so the other wins."""
    arena = BestFitArena(4)
    blocks = [(65, 0, 3), (128, 0, 0), (64, 0, 3), (128, 0, 0), (64, 0, 3)]
    assert [arena.place(*block) for block in blocks] == [0, 128, 256, 320, 448]
    assert arena.place(60, 1, 3) == 320


def test_the_work_grows_with_the_operators_not_with_their_square() -> None:
    def work(operators: int) -> int:
        arena = BestFitArena(operators)
        for index in range(operators):
            arena.place(64 + index % 7, index, min(index + 1 + index % 5, operators - 1))
        return arena._work

    assert work(16_000) < 1.1 * 8 * work(2_000)


def test_an_empty_tensor_takes_no_place() -> None:
    arena = BestFitArena(2)
    assert arena.place(0, 0, 1) == 0
    assert arena.size_bytes == 0


def test_too_much_work_ends_in_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(best_fit, "_PATIENCE", 1000)
    arena = BestFitArena(200)
    for index in range(200):
        arena.place(64, index, 199)
    assert arena.exhausted
    assert arena.size_bytes >= 200 * 64


def test_absurd_sizes_end_in_a_bound() -> None:
    arena = BestFitArena(4)
    arena.place(64, 0, 1)
    assert arena.place(2**60, 1, 2) >= 64
    assert arena.exhausted
