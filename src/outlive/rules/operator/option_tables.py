"""Operators that cannot do without their options.

Without its table an operator gets options that are all zero (LiteRT,
tflite/core/api/flatbuffer_conversions.cc): harmless for most, but these divide by one, count by
one, or choose what to do by one.
"""

from __future__ import annotations

from collections.abc import Mapping

from outlive.model import Operator

_TABLES: Mapping[str, str] = {
    "CONV_2D": "Conv2DOptions",
    "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions",
    "TRANSPOSE_CONV": "TransposeConvOptions",
    "CONV_3D": "Conv3DOptions",
    "CONV_3D_TRANSPOSE": "Conv3DOptions",
    "AVERAGE_POOL_2D": "Pool2DOptions",
    "MAX_POOL_2D": "Pool2DOptions",
    "L2_POOL_2D": "Pool2DOptions",
    "SPLIT": "SplitOptions",
    "SPLIT_V": "SplitVOptions",
    "PACK": "PackOptions",
    "UNPACK": "UnpackOptions",
    "DEPTH_TO_SPACE": "DepthToSpaceOptions",
    "SPACE_TO_DEPTH": "SpaceToDepthOptions",
    "SVDF": "SVDFOptions",
    "SHAPE": "ShapeOptions",
    "ARG_MAX": "ArgMaxOptions",
    "ARG_MIN": "ArgMinOptions",
    "UNIQUE": "UniqueOptions",
    "FAKE_QUANT": "FakeQuantOptions",
    "LSH_PROJECTION": "LSHProjectionOptions",
    "HASHTABLE": "HashtableOptions",
    "IF": "IfOptions",
    "WHILE": "WhileOptions",
    "CALL_ONCE": "CallOnceOptions",
    "REDUCE_WINDOW": "ReduceWindowOptions",
    "STABLEHLO_GATHER": "StablehloGatherOptions",
    "STABLEHLO_SCATTER": "StablehloScatterOptions",
    "STABLEHLO_PAD": "StablehloPadOptions",
    "STABLEHLO_REDUCE_WINDOW": "StablehloReduceWindowOptions",
    "STABLEHLO_RNG_BIT_GENERATOR": "StablehloRngBitGeneratorOptions",
    "STABLEHLO_CASE": "StablehloCaseOptions",
    "STABLEHLO_COMPOSITE": "StableHLOCompositeOptions",
}


def lacks_options(operator: Operator) -> str:
    """What is wrong with the options an operator needs, in words; empty if nothing is."""
    needed = _TABLES.get(operator.type)
    if needed is None:
        return ""
    if operator.options is None:
        return f"it has no {needed}"
    if operator.options.table != needed:
        return f"it has {operator.options.table} where {needed} belong"
    return ""
