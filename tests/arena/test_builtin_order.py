"""Sets and sorts of the C++ library: orders printed by programs built with g++ and its libstdc++."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive.arena.builtin.layout import sorted_as_library, walked

# What `for (int key : set)` printed after inserting the keys in this order.
WALKS = [
    ([], []),
    ([5, 6, 7], [7, 6, 5]),
    ([0, 13, 26, 1, 14], [14, 1, 26, 13, 0]),  # keys of one bucket stay together
    # The fourteenth key makes it grow, which turns the order of the first thirteen.
    (
        list(range(100, 116)),
        [115, 114, 113, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112],
    ),
]
# Positions as `std::sort` left them, ordered by these ranks.
SORTS = [
    (
        [1, 1, 0, 2, 1, 0, 1, 2, 2, 0, 1, 1, 0, 0, 2, 1, 0, 1, 2, 0],
        [19, 2, 16, 5, 13, 12, 9, 10, 17, 15, 11, 0, 6, 4, 1, 8, 7, 14, 3, 18],
    ),
    (
        [i * 7 % 5 for i in range(34)],
        [
            *(0, 20, 15, 5, 30, 25, 10, 18, 13, 23, 8, 28, 3, 33, 26, 31, 21),
            *(1, 16, 11, 6, 19, 14, 24, 9, 29, 4, 17, 22, 12, 27, 7, 32, 2),
        ],
    ),
]


@pytest.mark.parametrize(("keys", "walk"), WALKS)
def test_a_set_is_walked_as_the_library_walks_it(keys: list[int], walk: list[int]) -> None:
    assert walked(keys) == walk


def test_a_key_that_is_there_already_changes_nothing() -> None:
    assert walked([3, 4, 3, 4, 4]) == walked([3, 4])


@pytest.mark.parametrize(("ranks", "order"), SORTS)
def test_ties_end_up_as_the_library_leaves_them(ranks: list[int], order: list[int]) -> None:
    assert sorted_as_library(range(len(ranks)), ranks) == order
    stable = sorted(range(len(ranks)), key=lambda position: ranks[position])
    assert order != stable, "a case that cannot tell the library's sort from a stable one"


def test_up_to_sixteen_elements_the_sort_is_stable() -> None:
    ranks = [2, 1, 2, 1, 0, 0, 2, 1, 0, 2, 1, 0, 2, 2, 1, 0]
    expected = sorted(range(16), key=lambda position: ranks[position])
    assert sorted_as_library(range(16), ranks) == expected


def killer(size: int) -> list[int]:
    """An order that makes the median of three a bad pivot every time, so that the heap takes over."""
    half = size // 2
    ranks = [0] * (2 * half)
    for i in range(1, half + 1):
        if i % 2:
            ranks[i - 1] = i
            ranks[i] = half + i
        ranks[half + i - 1] = 2 * i
    return ranks


@pytest.mark.parametrize("size", [40, 400, 4000])
def test_bad_orders_are_sorted_by_the_heap(size: int) -> None:
    ranks = [*killer(size), 5]
    order = sorted_as_library(range(len(ranks)), ranks)
    assert [ranks[position] for position in order] == sorted(ranks)


@given(st.lists(st.integers(0, 8), max_size=200))
def test_a_sort_sorts_and_loses_nothing(ranks: list[int]) -> None:
    order = sorted_as_library(range(len(ranks)), ranks)
    assert sorted(order) == list(range(len(ranks)))
    assert [ranks[position] for position in order] == sorted(ranks)


@given(st.lists(st.integers(0, 500), max_size=300))
def test_a_walk_visits_each_key_once(keys: list[int]) -> None:
    assert sorted(walked(keys)) == sorted(set(keys))
