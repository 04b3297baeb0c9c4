"""The orders that the C++ library gives: how a set of integers is walked, how ties end up after a sort.

LiteRT's planner collects tensors in `std::unordered_set<int>` and sorts them with `std::sort`, which leaves
equal elements in no promised order. The released wheels are built with libstdc++, so that its way of doing
both decides where tensors of one size lie: `bits/hashtable.h`, `bits/hashtable_policy.h`, `bits/stl_algo.h`
and `bits/stl_heap.h` of GCC.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

# The bucket counts that libstdc++ passes through when a set grows from empty by doubling
# (the next entry of its prime list at twice the count; the first insertion asks for 11 and gets 13).
BUCKETS = (13, 29, 59, 127, 257, 541, 1109, 2357, 5087, 10273, 20753, 42043, 85229, 172933, 351061, 712697)
_STILL_INSERTION = 16  # _S_threshold


def walked(keys: Iterable[int]) -> list[int]:
    """The keys in the order in which an `unordered_set<int>` filled in this order is walked."""
    pending = list(dict.fromkeys(keys))
    walk: list[int] = []
    for buckets in BUCKETS:
        room = buckets - len(walk)
        walk = _chained(walk + pending[:room], buckets)
        pending = pending[room:]
        if not pending:
            return walk
    return walk + pending  # more tensors at one operator than any file can name


def _chained(keys: list[int], buckets: int) -> list[int]:
    """The list after inserting keys one by one: a new bucket goes to the head, a key to its bucket's head."""
    chains: dict[int, list[int]] = {}
    for key in keys:
        chains.setdefault(key % buckets, []).append(key)
    return [key for chain in reversed(chains.values()) for key in reversed(chain)]


def sorted_as_library(items: Sequence[int], ranks: Sequence[int]) -> list[int]:
    """The items ordered by rank (one for each item) as `std::sort` leaves them, ties included."""
    if len(set(ranks)) == len(ranks):
        return [item for _, item in sorted(zip(ranks, items, strict=True))]
    pairs = list(zip(ranks, items, strict=True))
    _introsort(pairs)
    return [item for _, item in pairs]


_Pairs = list[tuple[int, int]]


def _introsort(pairs: _Pairs) -> None:
    depth = 2 * (len(pairs).bit_length() - 1)
    stack = [(0, len(pairs), depth)]
    while stack:
        first, last, depth = stack.pop()
        while last - first > _STILL_INSERTION:
            if depth == 0:
                _heapsort(pairs, first, last)
                break
            depth -= 1
            cut = _partition(pairs, first, last)
            # Right and left parts do not touch each other: the order in which they are done is free.
            stack.append((cut, last, depth))
            last = cut
    _insertion_sort(pairs)


def _partition(pairs: _Pairs, first: int, last: int) -> int:
    _median_to_first(pairs, first, first + 1, first + (last - first) // 2, last - 1)
    pivot = pairs[first][0]
    low, high = first + 1, last
    while True:
        while pairs[low][0] < pivot:
            low += 1
        high -= 1
        while pivot < pairs[high][0]:
            high -= 1
        if low >= high:
            return low
        pairs[low], pairs[high] = pairs[high], pairs[low]
        low += 1


def _median_to_first(pairs: _Pairs, result: int, a: int, b: int, c: int) -> None:
    if pairs[a][0] < pairs[b][0]:
        chosen = b if pairs[b][0] < pairs[c][0] else c if pairs[a][0] < pairs[c][0] else a
    else:
        chosen = a if pairs[a][0] < pairs[c][0] else c if pairs[b][0] < pairs[c][0] else b
    pairs[result], pairs[chosen] = pairs[chosen], pairs[result]


def _insertion_sort(pairs: _Pairs) -> None:
    """The last pass; guarded and unguarded insertion put an element behind its equals alike."""
    for position in range(1, len(pairs)):
        pair = pairs[position]
        hole = position
        while hole and pair[0] < pairs[hole - 1][0]:
            pairs[hole] = pairs[hole - 1]
            hole -= 1
        pairs[hole] = pair


def _heapsort(pairs: _Pairs, first: int, last: int) -> None:
    """Taken when the partitions go deep: make_heap, then sort_heap."""
    heap = pairs[first:last]
    for parent in range((len(heap) - 2) // 2, -1, -1):
        _sift(heap, parent, len(heap), heap[parent])
    for end in range(len(heap) - 1, 0, -1):
        value = heap[end]
        heap[end] = heap[0]
        _sift(heap, 0, end, value)
    pairs[first:last] = heap


def _sift(heap: _Pairs, hole: int, length: int, value: tuple[int, int]) -> None:
    """__adjust_heap: the hole goes down along the larger children, then the value comes up."""
    top = hole
    child = hole
    while child < (length - 1) // 2:
        child = 2 * (child + 1)
        if heap[child][0] < heap[child - 1][0]:
            child -= 1
        heap[hole] = heap[child]
        hole = child
    if length % 2 == 0 and child == (length - 2) // 2:
        child = 2 * child + 1
        heap[hole] = heap[child]
        hole = child
    parent = (hole - 1) // 2
    while hole > top and heap[parent][0] < value[0]:
        heap[hole] = heap[parent]
        hole = parent
        parent = (hole - 1) // 2
    heap[hole] = value
