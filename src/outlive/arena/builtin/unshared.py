"""Which large tensors could not share their memory with others, and why."""

from __future__ import annotations

from outlive.arena.builtin.layout import Layout
from outlive.arena.builtin.liveness import last_reads_of
from outlive.arena.plan import Unshared
from outlive.kernels.litert.registry import kernel_of

_MOST = 20
# An operator's input and output are alive together in any plan; what waits longer than this is worth a word.
_USUAL_WAIT = 1


def unshared_of(layout: Layout, preserve_all: bool) -> tuple[Unshared, ...]:
    """The largest tensors that keep their bytes longer than from their maker to the next operator."""
    table = layout.preparation.table
    last_reads = last_reads_of(layout)
    rows: list[Unshared] = []
    for tensor in sorted(layout.offsets, key=lambda t: (-table.bytes[t], t)):
        reason = "all tensors are preserved" if preserve_all else _reason(layout, tensor, last_reads)
        if reason and tensor not in layout.shared:
            rows.append(Unshared(tensor, table.names[tensor], table.bytes[tensor], reason))
        if len(rows) == _MOST:
            break
    return tuple(rows)


def _reason(layout: Layout, tensor: int, last_reads: dict[int, int]) -> str:
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


def _blocked(layout: Layout, tensor: int, made: int) -> str:
    """Why an operator that may overwrite its input did not."""
    preparation = layout.preparation
    node = preparation.nodes[made] if made < len(preparation.nodes) else None
    if node is None:
        return ""
    kernel, inputs = kernel_of(node.operator.type), node.raw_inputs
    sources = [inputs[place] for place in kernel.in_place if place < len(inputs) and inputs[place] >= 0]
    reasons = [_why_not(layout, source, tensor, kernel.unchanged) for source in sources]
    return next((reason for reason in reasons if reason), "")


def _why_not(layout: Layout, source: int, target: int, unchanged: bool) -> str:
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
