"""XNNPACK accepts an operator that it cannot create

What it checks
    No operator passes the checks of XNNPACK's delegate and then fails in XNNPACK itself. Two kinds do:
    operators that only move quantized values when input and output have different scales or zero
    points, and layers with sparse int8 weights behind DENSIFY.

Why it matters
    LiteRT uses XNNPACK by default. When XNNPACK refuses the operator, allocate_tensors() fails.

What to do
    Run the model with LiteRT's own kernels. Or convert it again with one scale for both tensors, or
    without sparsity.

Limits
    This holds for the LiteRT version that outlive follows. Other versions of XNNPACK may support the
    operator.
"""

from functools import cache
from itertools import islice

from outlive.arena.xnnpack.partition import delegate
from outlive.model import Model, Subgraph
from outlive.rules.api import Iterator, Remedy, Severity, Sightings, Tag, rule
from outlive.rules.operator.prepared import MOST_SIGHTINGS, PreparedOperator, complete_operators, sight
from outlive.rules.wording import command

_WHY = "the delegate checks less than XNNPACK itself, and accepts an operator that XNNPACK refuses"
# XNNPACK, src/subgraph/subgraph.c: xnn_subgraph_check_quantization_parameter_matches has no part in what
# the delegate asks of these (tflite/delegates/xnnpack/xnnpack_delegate.cc).
_MOVES = {
    "MAX_POOL_2D": ("i0", "o0"),
    "PAD": ("i0", "o0"),
    "RESIZE_BILINEAR": ("i0", "o0"),
    "SPLIT": ("i1", "o0"),
    "TRANSPOSE": ("i0", "o0"),
}
# Layers whose weights may come from DENSIFY, by the types of their input.
_LAYERS = {
    "FULLY_CONNECTED": ("float32", "int8"),
    "CONV_2D": ("float32",),
    "TRANSPOSE_CONV": ("float32",),
}


@rule("O134", "xnnpack-refusal", Severity.ERROR, since="0.1", cause="delegate-refused")
def xnnpack_refusal(model: Model) -> Sightings:
    taken = cache(_taken)
    found = (
        (op, facts)
        for op in complete_operators(model)
        if (facts := [*_scaled_anew(op), *_made_dense(op)]) and op.operator.index in taken(op.subgraph)
    )
    for op, facts in islice(found, MOST_SIGHTINGS):
        yield sight(model, op, facts, _WHY, _remedies(model))


def _remedies(model: Model) -> tuple[Remedy, ...]:
    run = command("outlive run", model.path, "--accelerator", "builtin")
    again = "convert the model again with one scale for both tensors, or without sparsity"
    return (
        Remedy("run the model without XNNPACK", Tag.SAME_RESULTS, command=run),
        Remedy(again, Tag.CHANGES_MODEL),
    )


def _taken(subgraph: Subgraph) -> frozenset[int]:
    return delegate(subgraph, {}).taken


def _scaled_anew(op: PreparedOperator) -> Iterator[str]:
    """Values that are only moved, under another scale or zero point."""
    slots = _MOVES.get(op.operator.type, ())
    found = [op.tensor(slot) for slot in slots]
    rows = [
        tensor.quantization for tensor in found if tensor is not None and tensor.dtype in ("int8", "uint8")
    ]
    scaled = [(row.scales, row.zero_points) for row in rows if row is not None and len(row.scales) == 1]
    if len(scaled) == 2 and scaled[0] != scaled[1]:
        parameters = (
            f"{op.describe(slot)} has scale {scales[0]:g} and zero point {', '.join(map(str, zeros))}"
            for slot, (scales, zeros) in zip(slots, scaled, strict=True)
        )
        yield ", ".join(parameters)


def _made_dense(op: PreparedOperator) -> Iterator[str]:
    """Sparse int8 weights that a DENSIFY unpacks."""
    weights, values = (
        op.tensor("i1"),
        op.dtype("i2" if op.operator.type == "TRANSPOSE_CONV" else "i0"),
    )
    if weights is None or weights.dtype != "int8" or values not in _LAYERS.get(op.operator.type, ()):
        return
    for operator in op.subgraph.operators:
        if operator.type == "DENSIFY" and weights.index in operator.outputs:
            yield f"{op.describe('i1')} is int8, unpacked by operator {operator.index} (DENSIFY)"
