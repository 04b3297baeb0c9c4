"""A delegate's memory and the runtime's arenas are on one heap: what one has freed, the other fills."""

from __future__ import annotations

from outlive.arena.builtin.page_usage import DelegateHeap
from outlive.arena.builtin.planning import plan_beside
from outlive.arena.glibc_heap import GlibcHeap
from outlive.arena.plan import Question
from outlive.model import read_source
from tools.build_large_models import Canvas

MIB = 1 << 20


def heap_with_a_gap(size: int) -> GlibcHeap:
    """As packing leaves it: a temporary copy of weights was freed, and something lies behind it."""
    heap = GlibcHeap()
    heap.free(heap.allocate(16 * MIB))  # from now on pieces of this size are not mapped
    temporary = heap.allocate(size)
    heap.allocate(2000)
    heap.free(temporary)
    return heap


def peak_beside(gap: int) -> int:
    """The peak of a model with an arena of 2 MiB, beside a delegate that has left a gap."""
    canvas = Canvas("float")
    image = canvas.activation([1, 128, 128, 16])
    data = canvas.finish([image], [canvas.single("LOGISTIC", image)])
    model = read_source(data).model
    assert model is not None

    def delegate() -> DelegateHeap:
        return DelegateHeap(heap=heap_with_a_gap(gap), prepare=lambda _subgraph, _run: None)

    plan, most = plan_beside(model, Question(accelerator="builtin"), delegate)
    assert plan.arena_bytes == 2 * MIB
    return most.bytes


def test_an_arena_goes_into_a_gap_that_holds_it() -> None:
    assert peak_beside(3 * MIB) < 3 * MIB + MIB // 4


def test_an_arena_that_fits_no_gap_comes_on_top() -> None:
    assert 3 * MIB < peak_beside(MIB) < 3 * MIB + MIB // 4
