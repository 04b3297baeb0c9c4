"""Which kernel prepares which operator: those of MicroMutableOpResolver, all of them registered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from outlive.kernels.tables import read_table
from outlive.kernels.tflm import arithmetic as two
from outlive.kernels.tflm import control, convolution, custom, recurrent, shaping, signal, slicing
from outlive.kernels.tflm import elementwise as one
from outlive.kernels.tflm.preparation import Preparation
from outlive.model import Operator

Step = Callable[[Preparation], None]

# Without a Prepare: ARG_MAX, ARG_MIN, FLOOR, LOGICAL_AND, LOGICAL_OR, MAXIMUM, MINIMUM, NEG, PACK, UNPACK.
_PREPARE: Mapping[str, Step] = {
    "ABS": one.scaled,
    "ADD": two.add,
    "ADD_N": two.add_n,
    "ASSIGN_VARIABLE": control.assign_variable,
    "AVERAGE_POOL_2D": two.pooling,
    "BATCH_MATMUL": convolution.batch_matmul,
    "BATCH_TO_SPACE_ND": slicing.batch_space,
    "BROADCAST_ARGS": shaping.broadcast_args,
    "BROADCAST_TO": shaping.broadcast_to,
    "CALL_ONCE": control.call_once,
    "CAST": one.pair_only,
    "CEIL": one.same_floats,
    "CONCATENATION": shaping.concatenation,
    "CONV_2D": convolution.conv_2d,
    "COS": one.same_type,
    "CUMSUM": one.cumsum,
    "DEPTHWISE_CONV_2D": convolution.depthwise_conv_2d,
    "DEPTH_TO_SPACE": slicing.depth_to_space,
    "DEQUANTIZE": one.dequantize,
    "DIV": two.div,
    "DYNAMIC_UPDATE_SLICE": slicing.dynamic_update_slice,
    "ELU": one.same_type,
    "EMBEDDING_LOOKUP": slicing.embedding_lookup,
    "EQUAL": two.compare,
    "EXP": one.same_floats,
    "EXPAND_DIMS": shaping.expand_dims,
    "FILL": shaping.fill,
    "FLOOR_DIV": two.floor_divide,
    "FLOOR_MOD": two.floor_divide,
    "FULLY_CONNECTED": convolution.fully_connected,
    "GATHER": slicing.gather,
    "GATHER_ND": slicing.gather_nd,
    "GREATER": two.compare,
    "GREATER_EQUAL": two.compare,
    "HARD_SWISH": one.hard_swish,
    "IF": control.if_,
    "L2_NORMALIZATION": one.l2_normalization,
    "L2_POOL_2D": slicing.l2_pool,
    "LEAKY_RELU": one.same_type,
    "LESS": two.compare,
    "LESS_EQUAL": two.compare,
    "LOG": one.same_type,
    "LOGICAL_NOT": one.same_type,
    "LOGISTIC": one.logistic,
    "LOG_SOFTMAX": one.log_softmax,
    "MAX_POOL_2D": two.pooling,
    "MEAN": recurrent.mean_or_sum,
    "MIRROR_PAD": shaping.mirror_pad,
    "MUL": two.mul,
    "NOT_EQUAL": two.compare,
    "PAD": shaping.pad,
    "PADV2": shaping.pad,
    "PRELU": two.prelu,
    "QUANTIZE": one.quantize,
    "READ_VARIABLE": control.read_variable,
    "REDUCE_ALL": recurrent.reduce_all,
    "REDUCE_MAX": recurrent.min_or_max,
    "REDUCE_MIN": recurrent.min_or_max,
    "RELU": one.relu,
    "RELU6": one.relu6,
    "RESHAPE": shaping.reshape,
    "RESIZE_BILINEAR": slicing.resize_bilinear,
    "RESIZE_NEAREST_NEIGHBOR": slicing.resize_nearest,
    "REVERSE_V2": slicing.reverse,
    "ROUND": one.same_floats,
    "RSQRT": one.scaled,
    "SELECT_V2": two.select,
    "SHAPE": one.counted,
    "SIN": one.same_type,
    "SLICE": slicing.slice_,
    "SOFTMAX": one.softmax,
    "SPACE_TO_BATCH_ND": slicing.batch_space,
    "SPACE_TO_DEPTH": slicing.space_to_depth,
    "SPLIT": slicing.split,
    "SPLIT_V": slicing.split_v,
    "SQRT": one.same_type,
    "SQUARE": one.same_type,
    "SQUARED_DIFFERENCE": two.squared_difference,
    "SQUEEZE": shaping.squeeze,
    "STRIDED_SLICE": slicing.strided_slice,
    "SUB": two.sub,
    "SUM": recurrent.mean_or_sum,
    "SVDF": recurrent.svdf,
    "TANH": one.tanh,
    "TRANSPOSE": shaping.transpose,
    "TRANSPOSE_CONV": convolution.transpose_conv,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": recurrent.lstm,
    "VAR_HANDLE": control.var_handle,
    "WHILE": control.while_,
    "ZEROS_LIKE": one.pair_only,
}

_CUSTOM_PREPARE: Mapping[str, Step] = {
    "CIRCULAR_BUFFER": custom.circular_buffer,
    "SignalDelay": signal.delay,
    "SignalEnergy": signal.energy,
    "SignalFftAutoScale": signal.fft_auto_scale,
    "SignalFilterBank": signal.filter_bank,
    "SignalFilterBankLog": signal.filter_bank_log,
    "SignalFilterBankSpectralSubtraction": signal.spectral_subtraction,
    "SignalFilterBankSquareRoot": signal.filter_bank_square_root,
    "SignalFramer": signal.framer,
    "SignalIrfft": signal.irfft,
    "SignalOverlapAdd": signal.overlap_add,
    "SignalPCAN": signal.pcan,
    "SignalRfft": signal.rfft,
    "SignalStacker": signal.stacker,
    "SignalWindow": signal.window,
    "TFLM_DECODE": custom.decode,
    "TFLite_Detection_PostProcess": custom.detection_postprocess,
}

_CUSTOM_INIT: Mapping[str, Step] = {
    "SignalFilterBank": signal.init_filter_bank,
    "SignalFilterBankSpectralSubtraction": signal.init_spectral_subtraction,
    "SignalIrfft": signal.init_irfft,
    "SignalRfft": signal.init_rfft,
    "SignalStacker": signal.init_stacker,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """What an operator keeps of its options, what its Init keeps, and its Prepare."""

    options: str | None  # the struct its options are parsed into
    init_struct: str | None
    init: Step | None
    prepare: Step | None


@cache
def kernel_table() -> Mapping[str, Any]:
    """The versioned table of operators."""
    return read_table("tflm_operators")


def find_kernel(op: Operator, kernels: str) -> Kernel | None:
    """The kernel of an operator; None if TFLM has none."""
    section = "custom" if op.is_custom else "builtin"
    name = op.custom_name if op.is_custom else op.type
    row = kernel_table()[section].get(name)
    return None if row is None else _kernel(section, name, kernels)


@cache
def _kernel(section: str, name: str, kernels: str) -> Kernel:
    row: dict[str, str] = kernel_table()[section][name]
    init = row.get("init")
    prepare = (_CUSTOM_PREPARE if section == "custom" else _PREPARE).get(name)
    if kernels == "cmsis-nn" and section == "builtin":
        from outlive.kernels.tflm.cmsis_nn import CMSIS_NN_PREPARE

        init = row.get("cmsis_nn_init", init)
        prepare = CMSIS_NN_PREPARE.get(name, prepare)
    return Kernel(
        options=row.get("options"),
        init_struct=init,
        init=_CUSTOM_INIT.get(name) if section == "custom" else None,
        prepare=prepare,
    )
