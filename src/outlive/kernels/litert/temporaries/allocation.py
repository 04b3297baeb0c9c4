"""Where each operator's outputs live: what its Prepare makes of the arena tensors they start as."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from outlive.kernels.litert.temporaries.filling import Unprepared, dims, needed, number
from outlive.kernels.litert.temporaries.reductions import is_constant_product
from outlive.kernels.litert.temporary import Situation

# arena: kTfLiteArenaRw. persistent: kTfLiteArenaRwPersistent. heap: kTfLitePersistentRo, made at Prepare.
# dynamic: kTfLiteDynamic, sized when the operator runs; Prepare of the graph stops behind it.
# unshaped: in the arena with its input's bytes but no shape, so that Prepare stops as well (RESHAPE alone).
Home = Literal["arena", "persistent", "heap", "dynamic", "unshaped"]
Rule = Callable[[Situation, int], Home]

# Their outputs are dynamic or not by what is in the subgraphs they call, which a Situation does not show.
DECIDED_BY_SUBGRAPHS = frozenset({"IF", "WHILE", "STABLEHLO_CASE", "STABLEHLO_COMPOSITE"})
# Subgraph::SetTensorParametersReadWrite in LiteRT, tflite/core/subgraph.cc.
_ALWAYS_DYNAMIC_TYPES = ("string", "resource", "variant")


def output_home(situation: Situation, position: int) -> Home:
    """Where the output at a position lives after Prepare."""
    tensor = situation.output(position)
    name = situation.operator.name
    if tensor is not None and tensor.dtype in _ALWAYS_DYNAMIC_TYPES and name != "VAR_HANDLE":
        return "dynamic"
    rule = _RULES.get(name)
    try:
        return "arena" if rule is None else rule(situation, position)
    except Unprepared:
        return "arena"


def stops_preparation(situation: Situation) -> bool:
    """True if the graph's Prepare stops behind this operator, to go on when it has run.

    Subgraph::PrepareOpsStartingAt in LiteRT, tflite/core/subgraph.cc.
    """
    homes = (output_home(situation, position) for position in range(len(situation.operator.outputs)))
    return any(home in ("dynamic", "unshaped") for home in homes)


def inputs_made_persistent(situation: Situation) -> tuple[int, ...]:
    """Tensors that the operator reads and moves to the persistent arena: the states of a basic LSTM."""
    options = situation.operator.options
    if situation.operator.name != "LSTM" or options is None or options.get("kernel_type") != "BASIC":
        return ()
    states = (situation.input(position) for position in (1, 4))
    return tuple(state.index for state in states if state is not None)


def _known(situation: Situation, *positions: int) -> bool:
    return all(situation.constant_or_persistent(needed(situation, position).index) for position in positions)


def _needing(*positions: int) -> Rule:
    """Dynamic unless the values of these inputs are known at Prepare."""
    return lambda situation, _: "arena" if _known(situation, *positions) else "dynamic"


def _all_known(situation: Situation) -> bool:
    return _known(situation, *range(len(situation.operator.inputs)))


def _folding(situation: Situation, _position: int) -> Home:
    """Computed at Prepare if everything it reads is known."""
    return "heap" if _all_known(situation) else "arena"


def _always(home: Home) -> Rule:
    return lambda _situation, _position: home


def _range(situation: Situation, _position: int) -> Home:
    return "heap" if _all_known(situation) else "dynamic"


def _reshape(situation: Situation, _position: int) -> Home:
    if len(situation.operator.inputs) > 1 and not _known(situation, 1):
        return "unshaped"
    return "heap" if _known(situation, 0) else "arena"


def _strided_slice(situation: Situation, _position: int) -> Home:
    offset = bool(number(situation, "offset"))
    if not _known(situation, 3) or not (offset or _known(situation, 1, 2)):
        return "dynamic"
    return "heap" if _known(situation, 0, 1, 2) else "arena"


def _is_open(situation: Situation, position: int) -> bool:
    """HasUnspecifiedDimension, tflite/kernels/kernel_util.cc; a constant's signature is not looked at."""
    tensor = needed(situation, position)
    return tensor.is_dynamic and not situation.constant(tensor.index)


def _slice(situation: Situation, position: int) -> Home:
    """A shape the file states without open dimensions is believed, whatever begin and size are."""
    output = situation.output(position)
    if output is not None and output.shape and not output.is_dynamic:
        return "arena"
    return "arena" if _known(situation, 1, 2) and not _is_open(situation, 0) else "dynamic"


def _tile(situation: Situation, _position: int) -> Home:
    if not _known(situation, 1):
        return "dynamic"
    return "heap" if _known(situation, 0) else "arena"


def _pad(situation: Situation, _position: int) -> Home:
    ranked = bool(dims(situation, needed(situation, 0)))
    return "arena" if ranked and _known(situation, 1) else "dynamic"


def _topk(situation: Situation, _position: int) -> Home:
    return "arena" if _known(situation, 1) and not _is_open(situation, 0) else "dynamic"


def _product(situation: Situation, _position: int) -> Home:
    if not _known(situation, 1):
        return "dynamic"
    return "heap" if is_constant_product(situation) else "arena"


def _from_constant(position: int) -> Rule:
    """Dynamic unless this input is a constant of the file; one computed at Prepare does not do."""
    return lambda situation, _: (
        "arena" if situation.constant(needed(situation, position).index) else "dynamic"
    )


def _dequantize(situation: Situation, _position: int) -> Home:
    return "persistent" if situation.constant(needed(situation, 0).index) else "arena"


def _read_variable(situation: Situation, position: int) -> Home:
    output = situation.output(position)
    return "dynamic" if output is not None and not situation.shape(output) else "arena"


def _non_max_suppression(counted: int) -> Rule:
    """All outputs but the number of those selected have the greatest number as their length."""
    return lambda situation, position: "arena" if position == counted or _known(situation, 2) else "dynamic"


def _unique(_situation: Situation, position: int) -> Home:
    return "dynamic" if position == 0 else "arena"


# SetTensorToDynamic, SetTensorToPersistentRo and allocation_type in LiteRT, tflite/kernels.
_RULES: dict[str, Rule] = {
    "ARG_MAX": _needing(1),
    "ARG_MIN": _needing(1),
    "BATCH_TO_SPACE_ND": _needing(1, 2),
    "BROADCAST_ARGS": _folding,
    "BROADCAST_TO": _needing(1),
    "CONCATENATION": _folding,
    "CONV_3D_TRANSPOSE": _needing(0),
    "DENSIFY": _always("persistent"),
    "DEQUANTIZE": _dequantize,
    "DILATE": _from_constant(1),
    "EMBEDDING_LOOKUP_SPARSE": _always("dynamic"),
    "EXPAND_DIMS": _needing(1),
    "FILL": _needing(0),
    "GATHER": _folding,
    "MEAN": _needing(1),
    "MIRROR_PAD": _needing(1),
    "MUL": _folding,
    "MULTINOMIAL": _needing(0, 1),
    "NON_MAX_SUPPRESSION_V4": _non_max_suppression(1),
    "NON_MAX_SUPPRESSION_V5": _non_max_suppression(2),
    "NumericVerify": _always("persistent"),
    "ONE_HOT": _needing(1),
    "PAD": _pad,
    "PADV2": _pad,
    "RANDOM_STANDARD_NORMAL": _needing(0),
    "RANDOM_UNIFORM": _needing(0),
    "RANGE": _range,
    "RANK": _always("heap"),
    "READ_VARIABLE": _read_variable,
    "REDUCE_ALL": _needing(1),
    "REDUCE_ANY": _needing(1),
    "REDUCE_MAX": _needing(1),
    "REDUCE_MIN": _needing(1),
    "REDUCE_PROD": _product,
    "RESHAPE": _reshape,
    "RESIZE_BILINEAR": _needing(1),
    "RESIZE_NEAREST_NEIGHBOR": _needing(1),
    "RFFT2D": _needing(1),
    "SCATTER_ND": _needing(2),
    "SEGMENT_SUM": _needing(0, 1),
    "SHAPE": _always("heap"),
    "SLICE": _slice,
    "SPACE_TO_BATCH_ND": _needing(1, 2),
    "SPARSE_TO_DENSE": _needing(1),
    "SPLIT": _needing(0),
    "SPLIT_V": _needing(1, 2),
    "STRIDED_SLICE": _strided_slice,
    "SUM": _needing(1),
    "TILE": _tile,
    "TOPK_V2": _topk,
    "TRANSPOSE": _needing(1),
    "TRANSPOSE_CONV": _from_constant(0),
    "UNIQUE": _unique,
    "UNSORTED_SEGMENT_MAX": _needing(1, 2),
    "UNSORTED_SEGMENT_MIN": _needing(1, 2),
    "UNSORTED_SEGMENT_PROD": _needing(1, 2),
    "UNSORTED_SEGMENT_SUM": _needing(1, 2),
    "VAR_HANDLE": _always("persistent"),
    "WHERE": _needing(0),
}
