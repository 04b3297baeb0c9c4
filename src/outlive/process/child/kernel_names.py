"""Which op a native function belongs to, by its name: `tflite::ops::builtin::reverse::Eval` runs REVERSE_V2.

    candidates("tflite::ops::builtin::pad::Eval", ...) -> KernelName(("PAD", "PADV2"), "Eval")

Where one function serves several ops it names them all: who knows the model can choose, and we do not guess.
From the registrations in `tflite/kernels/*.cc` and the switch of the XNNPACK delegate
(`tflite/delegates/xnnpack/xnnpack_delegate.cc`) in LiteRT, held against the symbols that its library has.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# tflite/schema/schema.fbs, enum BuiltinOperator: the place in this list is the op's code.
_OPERATORS_TEXT = """
ADD AVERAGE_POOL_2D CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE EMBEDDING_LOOKUP FLOOR
FULLY_CONNECTED HASHTABLE_LOOKUP L2_NORMALIZATION L2_POOL_2D LOCAL_RESPONSE_NORMALIZATION LOGISTIC
LSH_PROJECTION LSTM MAX_POOL_2D MUL RELU RELU_N1_TO_1 RELU6 RESHAPE RESIZE_BILINEAR RNN SOFTMAX
SPACE_TO_DEPTH SVDF TANH CONCAT_EMBEDDINGS SKIP_GRAM CALL CUSTOM EMBEDDING_LOOKUP_SPARSE PAD
UNIDIRECTIONAL_SEQUENCE_RNN GATHER BATCH_TO_SPACE_ND SPACE_TO_BATCH_ND TRANSPOSE MEAN SUB DIV SQUEEZE
UNIDIRECTIONAL_SEQUENCE_LSTM STRIDED_SLICE BIDIRECTIONAL_SEQUENCE_RNN EXP TOPK_V2 SPLIT LOG_SOFTMAX DELEGATE
BIDIRECTIONAL_SEQUENCE_LSTM CAST PRELU MAXIMUM ARG_MAX MINIMUM LESS NEG PADV2 GREATER GREATER_EQUAL
LESS_EQUAL SELECT SLICE SIN TRANSPOSE_CONV SPARSE_TO_DENSE TILE EXPAND_DIMS EQUAL NOT_EQUAL LOG SUM SQRT
RSQRT SHAPE POW ARG_MIN FAKE_QUANT REDUCE_PROD REDUCE_MAX PACK LOGICAL_OR ONE_HOT LOGICAL_AND LOGICAL_NOT
UNPACK REDUCE_MIN FLOOR_DIV REDUCE_ANY SQUARE ZEROS_LIKE FILL FLOOR_MOD RANGE RESIZE_NEAREST_NEIGHBOR
LEAKY_RELU SQUARED_DIFFERENCE MIRROR_PAD ABS SPLIT_V UNIQUE CEIL REVERSE_V2 ADD_N GATHER_ND COS WHERE RANK
ELU REVERSE_SEQUENCE MATRIX_DIAG QUANTIZE MATRIX_SET_DIAG ROUND HARD_SWISH IF WHILE NON_MAX_SUPPRESSION_V4
NON_MAX_SUPPRESSION_V5 SCATTER_ND SELECT_V2 DENSIFY SEGMENT_SUM BATCH_MATMUL
PLACEHOLDER_FOR_GREATER_OP_CODES CUMSUM CALL_ONCE BROADCAST_TO RFFT2D CONV_3D IMAG REAL COMPLEX_ABS
HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_SIZE REDUCE_ALL CONV_3D_TRANSPOSE VAR_HANDLE
READ_VARIABLE ASSIGN_VARIABLE BROADCAST_ARGS RANDOM_STANDARD_NORMAL BUCKETIZE RANDOM_UNIFORM MULTINOMIAL
GELU DYNAMIC_UPDATE_SLICE RELU_0_TO_1 UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_SUM ATAN2
UNSORTED_SEGMENT_MIN SIGN BITCAST BITWISE_XOR RIGHT_SHIFT STABLEHLO_LOGISTIC STABLEHLO_ADD STABLEHLO_DIVIDE
STABLEHLO_MULTIPLY STABLEHLO_MAXIMUM STABLEHLO_RESHAPE STABLEHLO_CLAMP STABLEHLO_CONCATENATE
STABLEHLO_BROADCAST_IN_DIM STABLEHLO_CONVOLUTION STABLEHLO_SLICE STABLEHLO_CUSTOM_CALL STABLEHLO_REDUCE
STABLEHLO_ABS STABLEHLO_AND STABLEHLO_COSINE STABLEHLO_EXPONENTIAL STABLEHLO_FLOOR STABLEHLO_LOG
STABLEHLO_MINIMUM STABLEHLO_NEGATE STABLEHLO_OR STABLEHLO_POWER STABLEHLO_REMAINDER STABLEHLO_RSQRT
STABLEHLO_SELECT STABLEHLO_SUBTRACT STABLEHLO_TANH STABLEHLO_SCATTER STABLEHLO_COMPARE STABLEHLO_CONVERT
STABLEHLO_DYNAMIC_SLICE STABLEHLO_DYNAMIC_UPDATE_SLICE STABLEHLO_PAD STABLEHLO_IOTA STABLEHLO_DOT_GENERAL
STABLEHLO_REDUCE_WINDOW STABLEHLO_SORT STABLEHLO_WHILE STABLEHLO_GATHER STABLEHLO_TRANSPOSE DILATE
STABLEHLO_RNG_BIT_GENERATOR REDUCE_WINDOW STABLEHLO_COMPOSITE STABLEHLO_SHIFT_LEFT STABLEHLO_CBRT
STABLEHLO_CASE
"""
OPERATORS = tuple(_OPERATORS_TEXT.split())


def _rules(text: str) -> dict[str, tuple[str, ...]]:
    """Names with the ops that each may run, written as NAME=OP,OP."""
    pairs = (word.partition("=") for word in text.split())
    return {name: tuple(ops.split(",")) for name, _, ops in pairs}


# Namespaces of kernels that serve one op under a name that is not their own in capitals.
_RENAMED = _rules(
    """
broadcastto=BROADCAST_TO call_once_kernel=CALL_ONCE conv=CONV_2D conv3d=CONV_3D
conv3d_transpose=CONV_3D_TRANSPOSE depthwise_conv=DEPTHWISE_CONV_2D if_kernel=IF l2norm=L2_NORMALIZATION
local_response_norm=LOCAL_RESPONSE_NORMALIZATION reverse=REVERSE_V2 while_kernel=WHILE
"""
)
# Namespaces that are named like their one op.
_PLAIN_TEXT = """
add add_n assign_variable atan2 batch_matmul batch_to_space_nd bidirectional_sequence_lstm
bidirectional_sequence_rnn bitcast bitwise_xor broadcast_args bucketize cast ceil concatenation cumsum
densify depth_to_space dequantize div dynamic_update_slice embedding_lookup exp expand_dims fake_quant fill
floor floor_div floor_mod fully_connected gather gather_nd hashtable_lookup lsh_projection lstm matrix_diag
matrix_set_diag mirror_pad mul neg one_hot pack pow quantize range rank read_variable reshape
resize_bilinear resize_nearest_neighbor reverse_sequence rfft2d right_shift rnn round scatter_nd segment_sum
shape sign slice space_to_batch_nd space_to_depth sparse_to_dense split split_v squared_difference squeeze
stablehlo_case stablehlo_composite stablehlo_gather stablehlo_pad stablehlo_rng_bit_generator
stablehlo_scatter stablehlo_shift_left strided_slice sub svdf tile topk_v2 transpose transpose_conv
unidirectional_sequence_lstm unidirectional_sequence_rnn unique unpack var_handle where zeros_like
"""
_PLAIN = frozenset(_PLAIN_TEXT.split())

# Where a namespace serves several ops: its functions (their last name), each with the ops that register it.
_SHARED_TEXT = """
activations EluEval=ELU EluPrepare=ELU GeluEval=GELU GeluPrepare=GELU HardSwishEval=HARD_SWISH
activations HardSwishPrepare=HARD_SWISH HardSwishInit=HARD_SWISH HardSwishFree=HARD_SWISH
activations LeakyReluEval=LEAKY_RELU LeakyReluPrepare=LEAKY_RELU LeakyReluInit=LEAKY_RELU
activations LeakyReluFree=LEAKY_RELU LogSoftmaxEval=LOG_SOFTMAX LogSoftmaxPrepare=LOG_SOFTMAX
activations LogSoftmaxInit=LOG_SOFTMAX LogSoftmaxFree=LOG_SOFTMAX PreluEval=PRELU PreluPrepare=PRELU
activations PreluInit=PRELU PreluFree=PRELU Relu0to1Eval=RELU_0_TO_1 Relu1Eval=RELU_N1_TO_1
activations Relu6Eval=RELU6 ReluEval=RELU SigmoidEval=LOGISTIC SigmoidPrepare=LOGISTIC
activations SoftmaxEval=SOFTMAX SoftmaxPrepare=SOFTMAX SoftmaxInit=SOFTMAX SoftmaxFree=SOFTMAX
activations TanhEval=TANH TanhPrepare=TANH ReluPrepare=RELU,RELU6,RELU_0_TO_1,RELU_N1_TO_1
activations ReluInit=RELU,RELU6,RELU_0_TO_1,RELU_N1_TO_1 ReluFree=RELU,RELU6,RELU_0_TO_1,RELU_N1_TO_1
activations Init=ELU,GELU,LOGISTIC,TANH Free=ELU,GELU,LOGISTIC,TANH
arg_min_max ArgMaxEval=ARG_MAX ArgMinEval=ARG_MIN Prepare=ARG_MAX,ARG_MIN
comparisons EqualEval=EQUAL NotEqualEval=NOT_EQUAL GreaterEval=GREATER GreaterEqualEval=GREATER_EQUAL
comparisons LessEval=LESS LessEqualEval=LESS_EQUAL ComparisonPrepareStringAllowed=EQUAL,NOT_EQUAL
comparisons ComparisonPrepare=GREATER,GREATER_EQUAL,LESS,LESS_EQUAL
complex EvalAbs=COMPLEX_ABS EvalImag=IMAG EvalReal=REAL Prepare=COMPLEX_ABS,IMAG,REAL
dilate Eval=DILATE Prepare=DILATE
elementwise AbsEval=ABS CosEval=COS LogEval=LOG LogicalNotEval=LOGICAL_NOT RsqrtEval=RSQRT SinEval=SIN
elementwise SqrtEval=SQRT SquareEval=SQUARE ElementWiseQuantizedInit=ABS,LOG,RSQRT,SQRT
elementwise ElementWiseQuantizedFree=ABS,LOG,RSQRT,SQRT
hashtable EvalHashtable=HASHTABLE PrepareHashtable=HASHTABLE EvalHashtableFind=HASHTABLE_FIND
hashtable PrepareHashtableFind=HASHTABLE_FIND EvalHashtableImport=HASHTABLE_IMPORT
hashtable PrepareHashtableImport=HASHTABLE_IMPORT EvalHashtableSize=HASHTABLE_SIZE
hashtable PrepareHashtableSize=HASHTABLE_SIZE
logical LogicalAndEval=LOGICAL_AND LogicalOrEval=LOGICAL_OR Prepare=LOGICAL_AND,LOGICAL_OR
logical Init=LOGICAL_AND,LOGICAL_OR Free=LOGICAL_AND,LOGICAL_OR
maximum_minimum Eval=MAXIMUM,MINIMUM Prepare=MAXIMUM,MINIMUM
non_max_suppression Eval=NON_MAX_SUPPRESSION_V4,NON_MAX_SUPPRESSION_V5
non_max_suppression Prepare=NON_MAX_SUPPRESSION_V4,NON_MAX_SUPPRESSION_V5
pad Eval=PAD,PADV2 Prepare=PAD,PADV2
pooling AverageEval=AVERAGE_POOL_2D MaxEval=MAX_POOL_2D L2Eval=L2_POOL_2D
pooling GenericPrepare=AVERAGE_POOL_2D,MAX_POOL_2D,L2_POOL_2D Init=AVERAGE_POOL_2D,MAX_POOL_2D,L2_POOL_2D
pooling Free=AVERAGE_POOL_2D,MAX_POOL_2D,L2_POOL_2D
random EvalMultinomial=MULTINOMIAL PrepareMultinomial=MULTINOMIAL Eval=RANDOM_UNIFORM,RANDOM_STANDARD_NORMAL
random Prepare=RANDOM_UNIFORM,RANDOM_STANDARD_NORMAL Init=RANDOM_UNIFORM,RANDOM_STANDARD_NORMAL,MULTINOMIAL
random Free=RANDOM_UNIFORM,RANDOM_STANDARD_NORMAL,MULTINOMIAL
reduce EvalMean=MEAN EvalSum=SUM EvalProd=REDUCE_PROD PrepareProd=REDUCE_PROD PrepareMeanOrSum=MEAN,SUM
reduce EvalGeneric=REDUCE_ALL,REDUCE_ANY,REDUCE_MAX,REDUCE_MIN PrepareAllOrAny=REDUCE_ALL,REDUCE_ANY
reduce PrepareSimple=REDUCE_MAX,REDUCE_MIN
reduce Init=MEAN,SUM,REDUCE_PROD,REDUCE_ALL,REDUCE_ANY,REDUCE_MAX,REDUCE_MIN
reduce Free=MEAN,SUM,REDUCE_PROD,REDUCE_ALL,REDUCE_ANY,REDUCE_MAX,REDUCE_MIN
reduce_window_op Eval=REDUCE_WINDOW,STABLEHLO_REDUCE_WINDOW Prepare=REDUCE_WINDOW,STABLEHLO_REDUCE_WINDOW
reduce_window_op Free=REDUCE_WINDOW,STABLEHLO_REDUCE_WINDOW TFLiteInit=REDUCE_WINDOW
reduce_window_op StablehloInit=STABLEHLO_REDUCE_WINDOW
select SelectEval=SELECT,SELECT_V2 SelectPrepare=SELECT,SELECT_V2 SelectInit=SELECT,SELECT_V2
select SelectFree=SELECT,SELECT_V2
unsorted_segment EvalProd=UNSORTED_SEGMENT_PROD EvalMax=UNSORTED_SEGMENT_MAX EvalSum=UNSORTED_SEGMENT_SUM
unsorted_segment EvalMin=UNSORTED_SEGMENT_MIN
unsorted_segment Prepare=UNSORTED_SEGMENT_PROD,UNSORTED_SEGMENT_MAX,UNSORTED_SEGMENT_SUM,UNSORTED_SEGMENT_MIN
- PrepareAbs=ABS PrepareCos=COS PrepareLog=LOG PrepareNot=LOGICAL_NOT PrepareRsqrt=RSQRT PrepareSin=SIN
- PrepareSqrt=SQRT PrepareSquare=SQUARE Eval=EMBEDDING_LOOKUP_SPARSE,SKIP_GRAM
- Prepare=EMBEDDING_LOOKUP_SPARSE,SKIP_GRAM
- ElementwiseEval=STABLEHLO_ADD,STABLEHLO_AND,STABLEHLO_MAXIMUM,STABLEHLO_MINIMUM,STABLEHLO_MULTIPLY
- ElementwisePrepare=STABLEHLO_ADD,STABLEHLO_AND,STABLEHLO_MAXIMUM,STABLEHLO_MINIMUM,STABLEHLO_MULTIPLY
"""

# What tells the ops of a shared function apart after all: a template argument, or the source file.
_MARKS = (
    ("9MaximumOp", "MAXIMUM"),
    ("9MinimumOp", "MINIMUM"),
    ("10TFLiteDataE", "REDUCE_WINDOW"),
    ("13StablehloDataE", "STABLEHLO_REDUCE_WINDOW"),
)
_SOURCES = {"skip_gram.cc": "SKIP_GRAM", "embedding_lookup_sparse.cc": "EMBEDDING_LOOKUP_SPARSE"}

# Subgraph::Visit...Node, where the name of the function is not the op's.
_VISITS = _rules(
    """
BatchMatMul=BATCH_MATMUL Pad=PAD Reduce=REDUCE_MIN,REDUCE_MAX,SUM,MEAN MediaPipeDeconvolution=CUSTOM
MediaPipeMaxPooling=CUSTOM MediaPipeUnpooling=CUSTOM ScaledDotAttentionComposite=STABLEHLO_COMPOSITE,CUSTOM
DotAttention=STABLEHLO_COMPOSITE,CUSTOM
"""
)
# XNNPACK's own operators, by the ops that the delegate defines them for (xnn_define_...), and by what XNNPACK
# makes of those: a 1x1 convolution becomes fully connected (src/subgraph/convolution-2d.c there). Not those
# that it also puts in by itself: conversions, copies, transpositions, reductions, element-wise ones.
_XNN_OPERATORS = _rules(
    """
average_pooling=AVERAGE_POOL_2D batch_matrix_multiply=BATCH_MATMUL,STABLEHLO_COMPOSITE,CUSTOM
concatenate=CONCATENATION constant_pad=PAD convolution=CONV_2D deconvolution=TRANSPOSE_CONV,CUSTOM
depth_to_space=DEPTH_TO_SPACE depthwise_convolution=DEPTHWISE_CONV_2D even_split=SPLIT
fully_connected=FULLY_CONNECTED,CONV_2D,STABLEHLO_COMPOSITE,CUSTOM max_pooling=MAX_POOL_2D
resize_bilinear=RESIZE_BILINEAR slice=SLICE,STRIDED_SLICE softmax=SOFTMAX,STABLEHLO_COMPOSITE,CUSTOM
space_to_depth=SPACE_TO_DEPTH
"""
)

_BUILTIN = "tflite::ops::builtin::"
_CUSTOM = "tflite::ops::custom::"
_INTERPRETER = "tflite::Subgraph::"
# The two functions of the interpreter that go through the nodes, and what they do with each.
_LOOPS = {_INTERPRETER + "InvokeImpl": "Eval", _INTERPRETER + "PrepareOpsStartingAt": "Prepare"}
# Two more that do nothing but jump to a kernel.
CALLERS = (_INTERPRETER + "OpInvoke", _INTERPRETER + "OpPrepare")
# What a kernel may end in by a jump, so that it is not on the stack itself: callbacks of the interpreter, and
# functions that only kernels use.
_KERNELS_OWN = (
    _INTERPRETER,
    "tflite::ops::",
    "tflite::optimized_integer_ops::",
    "tflite::optimized_ops::",
    "tflite::reference_integer_ops::",
    "tflite::reference_ops::",
    "tflite::tensor_utils::",
)
VISIT_NODE = "tflite::xnnpack::Subgraph::VisitNode"
_VISIT = re.compile(r"tflite::xnnpack::Subgraph::Visit(\w+)Node")
_XNN_OPERATOR = re.compile(r"(?:create|reshape|setup)_(\w+)_operator")
_PHASE = re.compile(r"Eval|Prepare|Init$|Free$")


class KernelName(NamedTuple):
    """The ops that a function may be running, and the phase if its name says so."""

    ops: tuple[str, ...]
    phase: str | None
    delegated: bool = False


_SHARED: dict[str, dict[str, tuple[str, ...]]] = {}
for _line in _SHARED_TEXT.strip().split("\n"):
    _namespace, _, _functions = _line.partition(" ")
    _SHARED.setdefault(_namespace, {}).update(_rules(_functions))


def is_interpreter(name: str) -> bool:
    """Whether the function is one that calls kernels."""
    return name.startswith(_INTERPRETER)


def loop_phase(caller: str, callee: str) -> str | None:
    """The phase, if `caller` goes through the nodes and `callee` stands in for a kernel that jumped to it."""
    return _LOOPS.get(caller) if callee.startswith(_KERNELS_OWN) else None


def candidates(name: str, raw: tuple[str, ...], source: str) -> KernelName | None:
    """The ops a function may be running, by its readable name, raw names and source file; None if unknown.

    A kernel that we do not know gives no ops: it is a kernel all the same.
    """
    if name.startswith((_BUILTIN, _CUSTOM)):
        # One code under several names: the linker folded equal functions, and any of them may be meant.
        found = _kernel(name, raw[0] if raw else "", source) if len(raw) < 2 else None
        return found or KernelName((), _phase(name))
    visit = _VISIT.fullmatch(name)
    if visit:
        return _visit(visit.group(1))
    operator = _XNN_OPERATOR.fullmatch(name)
    if operator and operator.group(1) in _XNN_OPERATORS:
        phase = "Prepare" if name.startswith("create_") else None
        return KernelName(_XNN_OPERATORS[operator.group(1)], phase, delegated=True)
    return None


def _kernel(name: str, raw: str, source: str) -> KernelName | None:
    if name.startswith(_CUSTOM):
        return KernelName(("CUSTOM",), _phase(name))
    namespace, _, function = name[len(_BUILTIN) :].partition("::")
    if not function:
        namespace, function = "-", namespace
    if namespace in _PLAIN:
        return KernelName((namespace.upper(),), _phase(name))
    if namespace in _RENAMED:
        return KernelName(_RENAMED[namespace], _phase(name))
    ops = _SHARED.get(namespace, {}).get(function)
    if ops is None:
        return None
    marked = {op for mark, op in _MARKS if mark in raw} | {_SOURCES.get(source, "")}
    return KernelName(tuple(op for op in ops if op in marked) or ops, _phase(name))


def _phase(name: str) -> str | None:
    found = _PHASE.search(name.rpartition("::")[2])
    return found.group() if found else None


def _visit(node: str) -> KernelName | None:
    """VisitSpaceToDepthNode prepares SPACE_TO_DEPTH, VisitConv2DNode CONV_2D."""
    ops = _VISITS.get(node)
    if ops is None:
        words = re.sub(r"(?<=[a-z])(?=[A-Z0-9])", "_", node).upper()
        ops = (words,) if words in OPERATORS else None
    return KernelName(ops, "Prepare", delegated=True) if ops else None
