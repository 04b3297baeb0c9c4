"""The heap of glibc: what is mapped, what stays as a gap, what is given back."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from outlive.arena.glibc_heap import GlibcHeap, HeapBlock

KIB = 1024
MIB = 1024 * KIB


def test_a_large_piece_is_given_back_and_a_small_one_stays() -> None:
    heap = GlibcHeap()
    heap.free(heap.allocate(4 * MIB))
    assert heap.resident_bytes == 0
    small = heap.allocate(64 * KIB)
    heap.allocate(1 * KIB)
    heap.free(small)
    assert heap.resident_bytes >= 65 * KIB


def test_what_was_mapped_once_comes_from_the_heap_afterwards() -> None:
    heap = GlibcHeap()
    heap.free(heap.allocate(4 * MIB))
    temporary = heap.allocate(2 * MIB)
    heap.allocate(1 * MIB)
    heap.free(temporary)
    assert heap.resident_bytes >= 3 * MIB, "the gap before a kept piece stays resident"
    heap.allocate(2 * MIB)
    assert heap.resident_bytes < 3 * MIB + 64 * KIB, "what fits a gap takes it"


def test_the_free_end_is_given_back() -> None:
    heap = GlibcHeap()
    pieces = [heap.allocate(100 * KIB) for _ in range(10)]
    for piece in reversed(pieces):
        heap.free(piece)
    assert heap.resident_bytes <= 256 * KIB


def test_what_would_be_mapped_takes_the_free_end_where_it_fits() -> None:
    heap = GlibcHeap()
    heap.free(heap.allocate(4 * MIB))
    heap.free(heap.allocate(3 * MIB))
    before = heap.resident_bytes
    heap.allocate(3 * MIB + 100 * KIB)
    assert heap.resident_bytes <= before + 128 * KIB, "the free end is looked at before the threshold"


def test_a_freed_aligned_piece_holds_no_other_of_its_size() -> None:
    heap = GlibcHeap()
    heap.free(heap.allocate(64 * KIB, aligned=True))
    heap.allocate(64 * KIB, aligned=True)
    assert heap.resident_bytes >= 128 * KIB
    heap.allocate(64 * KIB)
    assert heap.resident_bytes < 140 * KIB, "one that need not be aligned fits"


def test_what_nobody_writes_to_is_not_resident() -> None:
    heap = GlibcHeap()
    for size in (100 * KIB, 4 * MIB):
        before = heap.resident_bytes
        piece = heap.allocate(size, written=False)
        assert heap.resident_bytes <= before + 8 * KIB
        heap.write(piece, size // 2)
        assert heap.resident_bytes - before >= size // 2
        heap.free(piece)


@given(st.lists(st.tuples(st.integers(0, 3 * MIB), st.booleans()), max_size=60))
def test_all_that_is_held_is_resident(steps: list[tuple[int, bool]]) -> None:
    heap = GlibcHeap()
    held: list[tuple[int, HeapBlock]] = []
    for size, free in steps:
        if free and held:
            heap.free(held.pop(size % len(held))[1])
        else:
            held.append((size, heap.allocate(size)))
        assert heap.resident_bytes >= sum(size for size, _ in held)
    spans = sorted(piece for _, piece in held if piece[0] >= 0)
    for (start, size), (following, _) in pairwise(spans):
        assert start + size <= following, "no two pieces share a byte"


def test_only_the_pages_that_were_written_to_are_there() -> None:
    heap = GlibcHeap()
    piece = heap.allocate(8 * MIB, written=False)
    before = heap.resident_bytes
    heap.write(piece, 16 * KIB, at=4 * MIB)
    heap.write(piece, 16 * KIB, at=4 * MIB)
    assert 16 * KIB <= heap.resident_bytes - before <= 24 * KIB


def test_a_small_piece_holds_the_end_up_only_where_there_are_no_small_gaps() -> None:
    kept = {}
    for has_small_gaps in (False, True):
        heap = GlibcHeap()
        heap.free(heap.allocate(4 * MIB))  # so that the next ones are not mapped
        heap.has_small_gaps = has_small_gaps
        for _ in range(2):
            temporary = heap.allocate(2 * MIB)
            heap.allocate(100)
            heap.free(temporary)
            heap.allocate(1500)
        kept[has_small_gaps] = heap.resident_bytes
    assert kept[False] > 4 * MIB > 3 * MIB > kept[True]
