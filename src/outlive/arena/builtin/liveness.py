"""How long each tensor keeps its bytes, what is alive at each operator, the least any planner must pay."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from outlive.arena.builtin.best_fit import FOREVER
from outlive.arena.builtin.layout import Layout
from outlive.arena.plan import Placement

# (first operator, last operator, bytes), both operators included.
_Span = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """The tensors of one subgraph in time."""

    placements: tuple[Placement, ...]
    live_bytes: tuple[int, ...]  # by operator, as the runtime keeps tensors
    least_bytes: int


def spans_of(layout: Layout, preserve_all: bool) -> Spans:
    """Placements with their lives, live bytes by operator, and the lower bound."""
    last_reads = last_reads_of(layout)
    operators = len(layout.preparation.nodes)
    held = _live(_held_spans(layout, operators), operators)
    needed = _live(_needed_spans(layout, last_reads, operators), operators)
    return Spans(
        placements=tuple(_placements(layout, last_reads, operators, preserve_all)),
        live_bytes=tuple(held),
        least_bytes=max(needed, default=0),
    )


def last_reads_of(layout: Layout) -> dict[int, int]:
    """The last operator that reads each tensor."""
    nodes = layout.preparation.nodes
    return {tensor: index for index, node in enumerate(nodes) for tensor in node.inputs}


def _held_spans(layout: Layout, operators: int) -> Iterable[_Span]:
    """As long as the runtime keeps them; a tensor that lies on another counts with that one."""
    lives, sizes = layout.lives, layout.preparation.table.bytes
    for tensor in layout.offsets:
        if tensor not in layout.shared:
            yield lives.made[tensor], min(lives.freed[tensor], operators - 1), sizes[tensor]


def _needed_spans(layout: Layout, last_reads: dict[int, int], operators: int) -> Iterable[_Span]:
    """As long as somebody will still read them: an output to the end, an input to its last reader."""
    sizes, made = layout.preparation.table.bytes, layout.lives.made
    outputs = frozenset(layout.preparation.outputs)
    ends: dict[int, int] = {}
    for tensor in layout.offsets:
        root = layout.shared.get(tensor, tensor)
        end = operators - 1 if tensor in outputs else last_reads.get(tensor, made[tensor])
        ends[root] = max(ends.get(root, 0), end)
    return ((made[root], end, sizes[root]) for root, end in ends.items())


def _live(spans: Iterable[_Span], operators: int) -> list[int]:
    changes = [0] * (operators + 1)
    for first, last, size in spans:
        end = min(last + 1, operators)
        if first < end:
            changes[first] += size
            changes[end] -= size
    return list(accumulate(changes[:-1]))


def _placements(
    layout: Layout, last_reads: dict[int, int], operators: int, preserve_all: bool
) -> Iterable[Placement]:
    table = layout.preparation.table
    early = {*layout.preparation.inputs, *(t.index for t in table.tensors if t.is_variable)}
    roots = frozenset(layout.shared.values())
    for offsets, persistent in ((layout.offsets, False), (layout.persistent_offsets, True)):
        for tensor, offset in sorted(offsets.items()):
            first = -1 if tensor in early else layout.lives.made[tensor]
            last = layout.lives.freed[tensor]
            if tensor in layout.shared or (tensor in roots and last != FOREVER):
                last = last_reads.get(tensor, first)  # its bytes live on under the names that share them
            if persistent or preserve_all or last == FOREVER:
                last = operators
            yield Placement(
                tensor=tensor,
                name=table.names[tensor],
                offset_bytes=offset,
                size_bytes=table.bytes[tensor],
                first_op=first,
                last_op=last,
                persistent=persistent,
                subgraph=layout.preparation.subgraph.index,
            )
