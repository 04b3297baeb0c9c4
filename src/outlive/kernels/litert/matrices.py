"""Matrix products: FULLY_CONNECTED, BATCH_MATMUL, and what kernels share that leave products to a library."""

import math
from collections.abc import Callable
from dataclasses import replace

from outlive.kernels.litert.elementwise import broadcast
from outlive.kernels.litert.kernel import (
    HeapUse,
    LiteRTKernel,
    MatrixProduct,
    PreparedOutputs,
    Slots,
    empty,
    shaped,
    slot,
)
from outlive.kernels.litert.tensor_table import PACKED_TYPES, Temporary, Where
from outlive.kernels.litert.view import PrepareView, Unprepared, elements, require
from outlive.kernels.view import Shape
from outlive.model import SparseDimension, Tensor

_INTEGER_WEIGHTS = ("int8", "uint8", "int4", "int2")
_HYBRID_WEIGHTS = ("uint8", "int8", "int4", "int2")
_VECTOR_ROWS, _VECTOR_DEPTH = 4, 8
_FULLY_CONNECTED_SLOTS, _MATMUL_SLOTS = 6, 7

# FilterWidth and FilterDepth of tflite/kernels/internal/optimized/fully_connected_4bit.h, and the rows that
# the x86 kernel works on at once: GetMaxSupportedRows in 4bit/sse_fully_connected.h.
_PACKED_WIDTH, _PACKED_DEPTH, _PACKED_ROWS = 4, 32, 4
_PACKED_APART_BYTES = 63  # kDefaultAlignmentPadding

# From the shapes of data, weights and output: rows of weights, depth, columns of data.
Sides = Callable[[Shape, Shape, Shape], Shape]


def library_product(
    data: int, weights: int, sides: Sides, *, eigen: bool = True, hybrid: bool = True
) -> Callable[[PrepareView], MatrixProduct | None]:
    """The product that an operator with these inputs comes down to, if a library packs for it."""

    def product(view: PrepareView) -> MatrixProduct | None:
        shapes = view.shape(data), view.shape(weights), view.shape_of(view.produced())
        rows, depth, columns = sides(*shapes) if all(shapes) else (0, 0, 0)
        if min(rows, depth, columns) < 1:
            return None
        given, kernel = view.dtype(data), view.dtype(weights)
        if given == kernel == "float32":  # Eigen does not pack for a vector
            floats = MatrixProduct(rows=rows, depth=depth, columns=columns, eigen=eigen)
            return None if eigen and columns < 2 else floats
        if kernel not in _INTEGER_WEIGHTS or (given == "float32" and not hybrid):
            return None
        if given == "int16" and not _has_short_bias(view):
            return None
        # tflite/kernels/cpu_backend_gemm_custom_gemv.h has a kernel of its own for a vector of bytes.
        vector = columns < 2 and given in ("int8", "uint8")
        if vector and rows >= _VECTOR_ROWS and depth >= _VECTOR_DEPTH:
            return None
        packed = "int16" if given == "int16" else "int8"
        return MatrixProduct(rows=rows, depth=depth, columns=columns, weights="int8", data=packed)

    return product


def _has_short_bias(view: PrepareView) -> bool:
    """True if a kernel multiplies int16 data by ruy: not with a bias of int64 (tflite/kernels/conv.cc)."""
    return view.input(2) is not None and view.dtype(2) == "int32"


def unpacked_weights(view: PrepareView) -> HeapUse:
    """Weights of 4 or 2 bits as bytes: tflite/kernels/conv.cc, fully_connected.cc."""
    weights = view.needed(1)
    return HeapUse(each=elements(view.shape_of(weights))) if weights.dtype in PACKED_TYPES else HeapUse()


def _fully_connected_shape(view: PrepareView) -> PreparedOutputs:
    """Rows by units, or the input's shape with units last: tflite/kernels/fully_connected.cc."""
    source, weights = view.shape(0), view.shape(1)
    require(len(weights) == 2)
    units, depth = weights
    if view.number("keep_num_dims"):
        require(bool(source))
        return shaped((*source[:-1], units))
    count = math.prod(source)
    require(depth > 0 and count % depth == 0)
    return shaped((count // depth, units))


def _fully_connected_temporaries(view: PrepareView) -> Slots:
    """Six slots at the first Prepare, filled where weights are quantized and the input is not."""
    source, weights = view.needed(0), view.needed(1)
    units, depth = view.dims(weights, 2)
    hybrid = source.dtype == "float32" and weights.dtype in _HYBRID_WEIGHTS
    if not hybrid or not depth:
        return Slots(at_prepare=(empty(),) * _FULLY_CONNECTED_SLOTS, order=())
    shape = view.dims(source)
    batch = elements(shape) // depth
    if _is_packed(view, weights, elements(shape), batch, units):
        return _packed(batch, elements(shape) // batch, units, written=not _is_blockwise(weights))
    filled = [
        slot(shape, "int8", name="input_quantized"),
        slot((batch,), "float32", name="scaling_factors"),
        slot((units, batch), "int32", name="accum_scratch"),
        slot((batch,), "int32", name="input_offsets"),
        slot((units,), "int32", "persistent", name="row_sums"),
    ]
    if weights.sparsity is not None:
        filled.append(sparse_temporary(weights, "FC_ledger"))
    return _six(filled, len(filled))


def _six(filled: list[Temporary], used: int) -> Slots:
    spare = (empty(),) * (_FULLY_CONNECTED_SLOTS - len(filled))
    return Slots(at_prepare=(*filled, *spare), order=tuple(range(used)))


def _is_packed(view: PrepareView, weights: Tensor, size: int, batch: int, units: int) -> bool:
    if weights.dtype != "int4" or view.reference or not view.constant(1) or not batch:
        return False
    columns = size // batch
    return columns % 2 == 0 and units >= _PACKED_WIDTH and columns >= _PACKED_DEPTH


def _is_blockwise(weights: Tensor) -> bool:
    """True if the kernel keeps what it needs on the heap (EvalBlockwise4Bit), and not in its temporaries."""
    return weights.quantization is not None and weights.quantization.kind == "blockwise"


def _packed(batch: int, columns: int, units: int, *, written: bool) -> Slots:
    """The 4-bit kernel of PrepareImpl4Bit: all rounded up to its tiles, the fifth slot never filled."""
    rows = _rounded(batch, next(rows for rows in (_PACKED_ROWS, 2, 1) if batch >= rows))
    filled = [
        slot((rows, _rounded(columns, _PACKED_DEPTH)), "int8", name="input_quantized"),
        slot((rows,), "float32", name="scaling_factors"),
        slot((rows, _rounded(units, _PACKED_WIDTH)), "int32", name="accum_scratch"),
        slot((rows,), "int32", name="input_offsets"),
    ]
    return _six([replace(each, written=written) for each in filled], 5)


def _rounded(size: int, step: int) -> int:
    return -(-size // step) * step


def sparse_temporary(weights: Tensor, name: str) -> Temporary:
    """Counts and column numbers of a sparse matrix, one byte each: CreateLedgerTensor."""
    levels = () if weights.sparsity is None else weights.sparsity.dimensions
    if len(levels) < 2:
        raise Unprepared("sparse weights without a second dimension")
    size = _entries(levels[1], levels[1].indices) + _entries(levels[1], levels[1].segments) - 1
    return slot((max(size, 0),), "uint8", "persistent", name=name)


def _entries(level: SparseDimension, stored: memoryview | tuple[int, ...] | None) -> int:
    if stored is None:
        raise Unprepared(f"a {level.format} dimension without indices")
    return len(stored)


def _fully_connected_heap(view: PrepareView) -> HeapUse:
    """Packed once where the kernel for 4 bits takes them, else unpacked each time."""
    kept, blocks = _packed_weights_bytes(view), _blocks_bytes(view)
    return HeapUse(kept=kept, each=blocks) if kept or blocks else unpacked_weights(view)


def _packed_weights_bytes(view: PrepareView) -> int:
    """What the 4-bit kernel packs weights into when it first runs (EvalHybridDense4Bit); 0 if it does not."""
    source, weights = view.needed(0), view.needed(1)
    shape, size = view.shape_of(weights), elements(view.shape_of(source))
    if source.dtype != "float32" or len(shape) != 2 or not shape[1] or _is_blockwise(weights):
        return 0
    if not _is_packed(view, weights, size, size // shape[1], shape[0]):
        return 0
    rows, columns = _rounded(shape[0], _PACKED_WIDTH), _rounded(shape[1], _PACKED_DEPTH)
    return rows * columns // 2 + _PACKED_APART_BYTES


def _blocks_bytes(view: PrepareView) -> int:
    """Weights with a scale for each block stay as they are; scales become floats, and the input bytes.

    EvalBlockwise4Bit of tflite/kernels/fully_connected.cc.
    """
    given = view.needed(1).quantization
    if given is None or given.kind != "blockwise" or given.scales_tensor is None:
        return 0
    return 4 * elements(view.table.shapes[given.scales_tensor]) + elements(view.shape(0))


def _fully_connected_sides(data: Shape, weights: Shape, output: Shape) -> Shape:
    depth = elements(weights[1:])
    return weights[0], depth, elements(data) // max(depth, 1)


def _batch_matmul_shape(view: PrepareView) -> PreparedOutputs:
    """Batches stretched, rows of the left, columns of the right: tflite/kernels/batch_matmul.cc."""
    left, right = view.shape(0), view.shape(1)
    rank = max(len(left), len(right))
    require(min(len(left), len(right)) >= 2)
    left, right = (1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right
    rows = left[-1] if view.number("adj_x") else left[-2]
    columns = right[-2] if view.number("adj_y") else right[-1]
    return shaped((*broadcast(left[:-2], right[:-2]), rows, columns))


def _batch_matmul_temporaries(view: PrepareView) -> Slots:
    """Seven slots: both sides transposed, needed or not, a constant one for good; five for hybrid ones."""
    left, right = view.needed(0), view.needed(1)
    left_shape, right_shape = view.dims(left), view.dims(right)
    if len(left_shape) < 2 or len(right_shape) < 2:
        raise Unprepared("a matrix of less than two dimensions")
    where: Where = "persistent" if view.constant(1) else "arena"
    turned = slot(left_shape, left.dtype, name="transposed_lhs")
    other = slot(right_shape, right.dtype, where, name="transposed_rhs")
    filled = [
        replace(turned, written=bool(view.number("adj_x"))),
        replace(other, written=not view.number("adj_y")),
    ]
    if left.dtype == "float32" and right.dtype == "int8":
        filled += _hybrid_matmul(view, left_shape, right_shape)
    spare = (empty(),) * (_MATMUL_SLOTS - len(filled))
    return Slots(at_prepare=(*filled, *spare), order=tuple(range(len(filled))))


def _hybrid_matmul(view: PrepareView, left: Shape, right: Shape) -> list[Temporary]:
    rows = left[-1] if view.number("adj_x") else left[-2]
    units = right[-2] if view.number("adj_y") else right[-1]
    quantized = elements((*left[:-2], rows))
    return [
        slot(left, "int8", name="input_quantized"),
        slot((quantized,), "float32", name="scaling_factors"),
        slot((units, rows), "int32", name="accum_scratch"),
        slot((quantized,), "int32", name="input_offsets"),
        slot((*right[:-2], units), "int32", "persistent", name="row_sums"),
    ]


KERNELS = {
    "FULLY_CONNECTED": LiteRTKernel(
        shapes=_fully_connected_shape,
        temporaries=_fully_connected_temporaries,
        heap=_fully_connected_heap,
        product=library_product(0, 1, _fully_connected_sides, hybrid=False),
    ),
    "BATCH_MATMUL": LiteRTKernel(shapes=_batch_matmul_shape, temporaries=_batch_matmul_temporaries),
}
