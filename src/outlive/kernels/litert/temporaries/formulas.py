"""Which formula gives an operator's temporaries: every operator that LiteRT's own resolvers know is here."""

from __future__ import annotations

from outlive.kernels.litert.temporaries import (
    bidirectional_lstm,
    convolution,
    fully_connected,
    lstm,
    matmul,
    recurrent,
    reductions,
    spectral,
    transpose_convolution,
    various,
)
from outlive.kernels.litert.temporaries.filling import Unprepared
from outlive.kernels.litert.temporary import Formula, Situation, Slots

_FORMULAS: dict[str, Formula] = {
    "ADD_N": various.add_n,
    "BATCH_MATMUL": matmul.batch_matmul,
    "BIDIRECTIONAL_SEQUENCE_LSTM": bidirectional_lstm.bidirectional_lstm,
    "BIDIRECTIONAL_SEQUENCE_RNN": recurrent.bidirectional_rnn,
    "CONV_2D": convolution.conv_2d,
    "CONV_3D": convolution.conv_3d,
    "CONV_3D_TRANSPOSE": transpose_convolution.conv_3d_transpose,
    "DEPTHWISE_CONV_2D": convolution.depthwise_conv_2d,
    "FULLY_CONNECTED": fully_connected.fully_connected,
    "LSTM": lstm.lstm,
    "MEAN": reductions.mean_or_sum,
    "NumericVerify": various.numeric_verify,
    "REDUCE_ALL": reductions.extreme,
    "REDUCE_ANY": reductions.extreme,
    "REDUCE_MAX": reductions.extreme,
    "REDUCE_MIN": reductions.extreme,
    "REDUCE_PROD": reductions.product,
    "RFFT2D": spectral.rfft2d,
    "RNN": recurrent.rnn,
    "STABLEHLO_REDUCE_WINDOW": various.stablehlo_reduce_window,
    "SUM": reductions.mean_or_sum,
    "SVDF": recurrent.svdf,
    "TFLite_Detection_PostProcess": various.detection_postprocess,
    "TRANSPOSE_CONV": transpose_convolution.transpose_conv,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": lstm.unidirectional_lstm,
    "UNIDIRECTIONAL_SEQUENCE_RNN": recurrent.unidirectional_rnn,
}

# Kernels in tflite/core/kernels/register.cc and tflite/kernels/register_ref.cc that never call AddTensors.
_NONE = frozenset({
    "ABS", "ADD", "ARG_MAX", "ARG_MIN", "ASSIGN_VARIABLE", "ATAN2", "AVERAGE_POOL_2D",
    "BATCH_TO_SPACE_ND", "BITCAST", "BITWISE_XOR", "BROADCAST_ARGS", "BROADCAST_TO", "BUCKETIZE",
    "CALL_ONCE", "CAST", "CEIL", "COMPLEX_ABS", "CONCATENATION", "COS", "CUMSUM", "DELEGATE", "DENSIFY",
    "DEPTH_TO_SPACE", "DEQUANTIZE", "DILATE", "DIV", "DYNAMIC_UPDATE_SLICE", "ELU", "EMBEDDING_LOOKUP",
    "EMBEDDING_LOOKUP_SPARSE", "EQUAL", "EXP", "EXPAND_DIMS", "FAKE_QUANT", "FILL", "FLOOR",
    "FLOOR_DIV", "FLOOR_MOD", "GATHER", "GATHER_ND", "GELU", "GREATER", "GREATER_EQUAL", "HARD_SWISH",
    "HASHTABLE", "HASHTABLE_FIND", "HASHTABLE_IMPORT", "HASHTABLE_LOOKUP", "HASHTABLE_SIZE", "IF",
    "IMAG", "L2_NORMALIZATION", "L2_POOL_2D", "LEAKY_RELU", "LESS", "LESS_EQUAL",
    "LOCAL_RESPONSE_NORMALIZATION", "LOG", "LOGICAL_AND", "LOGICAL_NOT", "LOGICAL_OR", "LOGISTIC",
    "LOG_SOFTMAX", "LSH_PROJECTION", "MATRIX_DIAG", "MATRIX_SET_DIAG", "MAXIMUM", "MAX_POOL_2D",
    "MINIMUM", "MIRROR_PAD", "MUL", "MULTINOMIAL", "NEG", "NON_MAX_SUPPRESSION_V4",
    "NON_MAX_SUPPRESSION_V5", "NOT_EQUAL", "ONE_HOT", "PACK", "PAD", "PADV2", "POW", "PRELU",
    "QUANTIZE", "RANDOM_STANDARD_NORMAL", "RANDOM_UNIFORM", "RANGE", "RANK", "READ_VARIABLE", "REAL",
    "REDUCE_WINDOW", "RELU", "RELU6", "RELU_0_TO_1", "RELU_N1_TO_1", "RESHAPE", "RESIZE_BILINEAR",
    "RESIZE_NEAREST_NEIGHBOR", "REVERSE_SEQUENCE", "REVERSE_V2", "RIGHT_SHIFT", "ROUND", "RSQRT",
    "SCATTER_ND", "SEGMENT_SUM", "SELECT", "SELECT_V2", "SHAPE", "SIGN", "SIN", "SKIP_GRAM", "SLICE",
    "SOFTMAX", "SPACE_TO_BATCH_ND", "SPACE_TO_DEPTH", "SPARSE_TO_DENSE", "SPLIT", "SPLIT_V", "SQRT",
    "SQUARE", "SQUARED_DIFFERENCE", "SQUEEZE", "STABLEHLO_ADD", "STABLEHLO_AND", "STABLEHLO_CASE",
    "STABLEHLO_COMPOSITE", "STABLEHLO_GATHER", "STABLEHLO_MAXIMUM", "STABLEHLO_MINIMUM",
    "STABLEHLO_MULTIPLY", "STABLEHLO_PAD", "STABLEHLO_RNG_BIT_GENERATOR", "STABLEHLO_SCATTER",
    "STABLEHLO_SHIFT_LEFT", "STRIDED_SLICE", "SUB", "TANH", "TILE", "TOPK_V2", "TRANSPOSE", "UNIQUE",
    "UNPACK", "UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_MIN", "UNSORTED_SEGMENT_PROD",
    "UNSORTED_SEGMENT_SUM", "VAR_HANDLE", "WHERE", "WHILE", "ZEROS_LIKE", "Mfcc", "AudioSpectrogram",
    "aeq.hadamard_rotation",
})  # fmt: skip


def has_kernel(name: str) -> bool:
    """True if LiteRT's own resolvers know this builtin operator; DELEGATE stands for what a delegate does."""
    return name in _FORMULAS or name in _NONE


def slots_of(situation: Situation) -> Slots | None:
    """The slots an operator's kernel adds; none if it is known to add none; None where it is not known."""
    name = situation.operator.name
    formula = _FORMULAS.get(name)
    if formula is None:
        return Slots() if name in _NONE else None
    try:
        return formula(situation)
    except Unprepared:
        return None
