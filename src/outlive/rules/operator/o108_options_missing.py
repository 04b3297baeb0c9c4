"""Operator options missing

What it checks
    Operators that divide, count or select by an option have their options table, and not that of
    another operator.

Why it matters
    Without the table every option is zero. Strides, counts and sizes of zero make kernels refuse the
    model, divide by zero, or read past lists.

What to do
    Convert the model again. If a tool edited the file, check that tool.

Limits
    Operators for which zero is a valid value of every option are exempt.
"""

from collections.abc import Mapping

from outlive.rules.api import Iterator, Severity, rule
from outlive.rules.operator.prepared import PreparedOperator, operators_of, operators_with

# Without its table an operator gets options that are all zero (LiteRT,
# tflite/core/api/flatbuffer_conversions.cc): harmless for most, but these divide by an option, count by it or
# choose by it what to do.
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


def _faults(op: PreparedOperator) -> Iterator[str]:
    needed, options = _TABLES.get(op.operator.type), op.operator.options
    if needed is not None and options is None:
        yield f"no {needed}"
    elif needed is not None and options is not None and options.table != needed:
        yield f"{options.table} instead of {needed}"


RULE = rule("O108", "options-missing", Severity.ERROR, since="0.1", cause="options-missing")(
    operators_with(_faults, "without the table, every option is zero", among=operators_of)
)
