"""Temporaries of LSTM and UNIDIRECTIONAL_SEQUENCE_LSTM: slots added when the node is made."""

from __future__ import annotations

from dataclasses import dataclass

from outlive.kernels.litert.temporaries.filling import Unprepared, dims, empty, needed, number, slot, word
from outlive.kernels.litert.temporaries.fully_connected import ledger
from outlive.kernels.litert.temporaries.recurrent import added_at_init, is_hybrid
from outlive.kernels.litert.temporary import Situation, Slots, Temporary
from outlive.model import Tensor

_SLOTS, _LEDGERS = 12, 9
# The inputs of the full kernel: tflite/kernels/lstm_shared.h.
_INPUT_TO_INPUT, _INPUT_TO_OUTPUT, _RECURRENT_TO_OUTPUT, _PROJECTION = 1, 4, 8, 16
_OUTPUT_STATE, _CELL_STATE = 18, 19
_SPARSE = (1, 2, 3, 4, 5, 6, 7, 8, _PROJECTION)
# Gates of 16 bits, a hidden state of 8, sums of 32; and the older kernel whose products have 8 bits.
_INTEGER_16 = ("int16", "int16", "int16", "int16", "int8", "int32")
_INTEGER_8 = ("int8", "int8", "int16", "int16", "int16", "int16", "int16", "int16")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The sizes all scratch is made of."""

    batch: int
    cells: int
    outputs: int
    coupled: bool  # CIFG: input and forget gate are one
    projected: bool

    def row_sums(self) -> tuple[int, int]:
        """One row for each matrix of the gates, and as many as the projection fills."""
        rows = 6 if self.coupled else 8
        if self.projected and self.cells:
            rows += -(-self.outputs // self.cells)
        return rows, self.cells

    def gates(self, spare: int) -> tuple[int, int]:
        """The scratch of the float kernel."""
        return self.batch, self.cells * (4 if self.coupled else 5) + spare


def lstm(situation: Situation) -> Slots | None:
    """Twelve slots and nine for sparse weights; a basic kernel has none: tflite/kernels/lstm.cc."""
    if word(situation, "kernel_type") == "BASIC":
        return Slots()
    cell = _cell(situation, dims(situation, needed(situation, 0), 2)[0])
    ledgers: list[Temporary] = [empty()] * _LEDGERS
    order: tuple[int, ...] | None
    if is_hybrid(situation, _INPUT_TO_OUTPUT):
        filled = _hybrid(situation, cell, spare=0)
        order = tuple(range(_SLOTS))
        if needed(situation, _INPUT_TO_OUTPUT).sparsity is not None:
            ledgers = [_ledger(situation.input(position)) for position in _SPARSE]
            order = tuple(range(_SLOTS + _LEDGERS))
    else:
        filled = _plain(situation, cell, spare=0, older=len(situation.operator.intermediates) != 5)
        order = tuple(range(len(filled)))
    spare = [empty()] * (_SLOTS - len(filled))
    return Slots(at_init=(*filled, *spare, *ledgers), order=order)


def unidirectional_lstm(situation: Situation) -> Slots | None:
    """Twelve slots: tflite/kernels/unidirectional_sequence_lstm.cc."""
    shape = dims(situation, needed(situation, 0))
    if len(shape) < 2:
        raise Unprepared("a sequence needs two dimensions")
    cell = _cell(situation, shape[1] if number(situation, "time_major") else shape[0])
    if is_hybrid(situation, _INPUT_TO_OUTPUT):
        return added_at_init(_SLOTS, _hybrid(situation, cell, spare=16))
    return added_at_init(_SLOTS, _plain(situation, cell, spare=16, older=False))


def _cell(situation: Situation, batch: int) -> Cell:
    recurrent = dims(situation, needed(situation, _RECURRENT_TO_OUTPUT))
    if not recurrent:
        raise Unprepared("recurrent weights without dimensions")
    return Cell(
        batch=batch,
        cells=dims(situation, needed(situation, _INPUT_TO_OUTPUT), 2)[0],
        outputs=recurrent[-1],  # the only one if the matrix is diagonal
        coupled=situation.input(_INPUT_TO_INPUT) is None,
        projected=situation.input(_PROJECTION) is not None,
    )


def _plain(situation: Situation, cell: Cell, *, spare: int, older: bool) -> list[Temporary]:
    source = needed(situation, 0)
    if source.dtype != "int8":
        return [slot(cell.gates(spare), source.dtype, name="scratch")]
    return [slot((cell.batch, cell.cells), dtype) for dtype in (_INTEGER_8 if older else _INTEGER_16)]


def _hybrid(situation: Situation, cell: Cell, spare: int) -> list[Temporary]:
    source, weights = needed(situation, 0), needed(situation, _INPUT_TO_OUTPUT)
    states = [dims(situation, needed(situation, position)) for position in (_OUTPUT_STATE, _CELL_STATE)]
    each = (cell.batch,)
    return [
        slot(cell.gates(spare), source.dtype, name="scratch"),
        slot(dims(situation, source), weights.dtype, name="input_quantized"),
        slot(states[0], weights.dtype, name="output_state_quantized"),
        slot(states[1], weights.dtype, name="cell_state_quantized"),
        slot(each, "float32", name="input_scaling_factors"),
        slot(each, "float32", name="output_state_scaling_factors"),
        slot(each, "float32", name="product_scaling_factors"),
        slot((cell.cells,), "float32", name="recovered_cell_weights"),
        slot((cell.cells, cell.batch), "int32", name="accum_scratch"),
        slot(each, "float32", name="input_zero_points"),
        slot(each, "float32", name="output_state_zero_points"),
        slot(cell.row_sums(), "int32", "persistent", name="Lstm_row_sums"),
    ]


def _ledger(weights: Tensor | None) -> Temporary:
    if weights is None or weights.sparsity is None:
        return empty("Lstm_ledger")
    return ledger(weights, "Lstm_ledger")
