"""Temporaries of FULLY_CONNECTED: six slots, filled only where weights are quantized and the input is not."""

from __future__ import annotations

from dataclasses import replace

from outlive.kernels.litert.temporaries.filling import Unprepared, dims, elements, empty, needed, slot
from outlive.kernels.litert.temporary import Situation, Slots, Temporary
from outlive.model import Tensor
from outlive.model.tensor import SparseDimension

_SLOTS = 6
_HYBRID_WEIGHTS = ("uint8", "int8", "int4", "int2")

# FilterWidth and FilterDepth of tflite/kernels/internal/optimized/fully_connected_4bit.h, and the rows that
# the x86 kernel works on at once: GetMaxSupportedRows in 4bit/sse_fully_connected.h.
_PACKED_WIDTH, _PACKED_DEPTH, _PACKED_ROWS = 4, 32, 4
_PACKED_APART_BYTES = 63  # kDefaultAlignmentPadding


def fully_connected(situation: Situation) -> Slots | None:
    """Six slots at the first Prepare, whatever the types: tflite/kernels/fully_connected.cc."""
    source, weights = needed(situation, 0), needed(situation, 1)
    units, depth = dims(situation, weights, 2)
    hybrid = source.dtype == "float32" and weights.dtype in _HYBRID_WEIGHTS
    if not hybrid or not depth:
        return Slots(at_prepare=(empty(),) * _SLOTS, order=())
    shape = dims(situation, source)
    batch = elements(shape) // depth
    if _is_packed(situation, weights, elements(shape), batch, units):
        return _packed(batch, elements(shape) // batch, units, written=not _is_blockwise(weights))
    filled = [
        slot(shape, "int8", name="input_quantized"),
        slot((batch,), "float32", name="scaling_factors"),
        slot((units, batch), "int32", name="accum_scratch"),
        slot((batch,), "int32", name="input_offsets"),
        slot((units,), "int32", "persistent", name="row_sums"),
    ]
    if weights.sparsity is not None:
        filled.append(ledger(weights, "FC_ledger"))
    return _six(filled, len(filled))


def _six(filled: list[Temporary], used: int) -> Slots:
    return Slots(at_prepare=(*filled, *(empty(),) * (_SLOTS - len(filled))), order=tuple(range(used)))


def packed_weights_bytes(situation: Situation) -> int:
    """What the 4-bit kernel packs weights into when it first runs (EvalHybridDense4Bit); 0 if it does not."""
    source, weights = needed(situation, 0), needed(situation, 1)
    shape, size = situation.shape(weights), elements(situation.shape(source))
    if source.dtype != "float32" or len(shape) != 2 or not shape[1] or _is_blockwise(weights):
        return 0
    if not _is_packed(situation, weights, size, size // shape[1], shape[0]):
        return 0
    rows, columns = _rounded(shape[0], _PACKED_WIDTH), _rounded(shape[1], _PACKED_DEPTH)
    return rows * columns // 2 + _PACKED_APART_BYTES


def _is_packed(situation: Situation, weights: Tensor, size: int, batch: int, units: int) -> bool:
    if weights.dtype != "int4" or situation.reference or not situation.constant(weights.index) or not batch:
        return False
    columns = size // batch
    return columns % 2 == 0 and units >= _PACKED_WIDTH and columns >= _PACKED_DEPTH


def _is_blockwise(weights: Tensor) -> bool:
    """True if the kernel keeps what it needs on the heap (EvalBlockwise4Bit), and not in its temporaries."""
    return weights.quantization is not None and weights.quantization.kind == "blockwise"


def _packed(batch: int, columns: int, units: int, *, written: bool) -> Slots:
    """The 4-bit kernel of PrepareImpl4Bit: all rounded up to its tiles, the fifth slot never filled."""
    rows_at_once = next(rows for rows in (_PACKED_ROWS, 2, 1) if batch >= rows)
    rows = _rounded(batch, rows_at_once)
    filled = [
        slot((rows, _rounded(columns, _PACKED_DEPTH)), "int8", name="input_quantized"),
        slot((rows,), "float32", name="scaling_factors"),
        slot((rows, _rounded(units, _PACKED_WIDTH)), "int32", name="accum_scratch"),
        slot((rows,), "int32", name="input_offsets"),
    ]
    return _six([replace(each, written=written) for each in filled], 5)


def _rounded(size: int, step: int) -> int:
    return (size + step - 1) // step * step


def ledger(weights: Tensor, name: str) -> Temporary:
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
