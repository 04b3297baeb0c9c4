"""How long each tensor keeps its bytes, what is alive at each operator, and which tensors share no memory."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from outlive.arena.builtin.best_fit import FOREVER
from outlive.arena.builtin.layout import SubgraphLayout
from outlive.arena.plan import Placement, Unshared
from outlive.kernels.litert.registry import kernel_of

_MOST_UNSHARED = 20
# An operator's input and output are alive together in any plan; what waits longer than this is worth a word.
_USUAL_WAIT = 1
# (first operator, last operator, bytes), both operators included.
_Span = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubgraphLiveness:
    """The tensors of one subgraph in time."""

    placements: tuple[Placement, ...]
    live_bytes: tuple[int, ...]  # by operator, as the runtime keeps tensors
    least_bytes: int


def liveness_of(layout: SubgraphLayout, preserve_all: bool) -> SubgraphLiveness:
    """Placements with their lives, live bytes by operator, and the lower bound."""
    last_reads = last_reads_of(layout)
    operators = len(layout.preparation.nodes)
    held = _live(_held_spans(layout, operators), operators)
    needed = _live(_needed_spans(layout, last_reads, operators), operators)
    return SubgraphLiveness(
        placements=tuple(_placements(layout, last_reads, operators, preserve_all)),
        live_bytes=tuple(held),
        least_bytes=max(needed, default=0),
    )


def last_reads_of(layout: SubgraphLayout) -> dict[int, int]:
    """The last operator that reads each tensor."""
    nodes = layout.preparation.nodes
    return {tensor: index for index, node in enumerate(nodes) for tensor in node.inputs}


def _held_spans(layout: SubgraphLayout, operators: int) -> Iterable[_Span]:
    """As long as the runtime keeps them; a tensor that lies on another counts with that one."""
    lives, sizes = layout.lives, layout.preparation.table.bytes
    for tensor in layout.offsets:
        if tensor not in layout.shared:
            yield lives.made[tensor], min(lives.freed[tensor], operators - 1), sizes[tensor]


def _needed_spans(layout: SubgraphLayout, last_reads: dict[int, int], operators: int) -> Iterable[_Span]:
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
    layout: SubgraphLayout, last_reads: dict[int, int], operators: int, preserve_all: bool
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


def unshared_of(layout: SubgraphLayout, preserve_all: bool) -> tuple[Unshared, ...]:
    """The largest tensors that keep their bytes longer than from their maker to the next operator."""
    table = layout.preparation.table
    last_reads = last_reads_of(layout)
    rows: list[Unshared] = []
    for tensor in sorted(layout.offsets, key=lambda t: (-table.bytes[t], t)):
        reason = "all tensors are preserved" if preserve_all else _reason(layout, tensor, last_reads)
        if reason and tensor not in layout.shared:
            rows.append(Unshared(tensor, table.names[tensor], table.bytes[tensor], reason))
        if len(rows) == _MOST_UNSHARED:
            break
    return tuple(rows)


def _reason(layout: SubgraphLayout, tensor: int, last_reads: dict[int, int]) -> str:
    preparation = layout.preparation
    if tensor in preparation.inputs:
        return "an input of the graph: kept through the whole run"
    if tensor in preparation.outputs:
        return "an output of the graph: kept to the end"
    if tensor >= len(preparation.table.tensors):
        return ""
    made = layout.lives.made[tensor]
    if tensor not in last_reads:
        return "no operator reads it, and the runtime never frees such a tensor"
    blocked = _blocked(layout, tensor, made)
    wait = last_reads[tensor] - made
    if wait > _USUAL_WAIT:
        waiting = f"op {last_reads[tensor]} reads it {wait} operators after it is made"
        return f"{waiting}; {blocked}" if blocked else waiting
    return blocked


def _blocked(layout: SubgraphLayout, tensor: int, made: int) -> str:
    """Why an operator that may overwrite its input did not."""
    preparation = layout.preparation
    node = preparation.nodes[made] if made < len(preparation.nodes) else None
    if node is None:
        return ""
    kernel, inputs = kernel_of(node.operator.type), node.raw_inputs
    sources = [inputs[place] for place in kernel.in_place if place < len(inputs) and inputs[place] >= 0]
    reasons = [_why_not(layout, source, tensor, kernel.unchanged) for source in sources]
    return next((reason for reason in reasons if reason), "")


def _why_not(layout: SubgraphLayout, source: int, target: int, unchanged: bool) -> str:
    preparation = layout.preparation
    table = preparation.table
    if table.where[source] != "arena":
        return ""
    if source in preparation.inputs:
        return f"cannot overwrite tensor {source}: it is an input of the graph"
    if not unchanged and table.bytes[source] != table.bytes[target]:
        return f"cannot overwrite tensor {source}: it has another size"
    if not unchanged and layout.lives.readers[source] > 1:
        return f"cannot overwrite tensor {source}: others read it too"
    return ""
