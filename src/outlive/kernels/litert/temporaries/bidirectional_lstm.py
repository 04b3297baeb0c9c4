"""Temporaries of BIDIRECTIONAL_SEQUENCE_LSTM: nineteen slots added when the node is made."""

from __future__ import annotations

from outlive.kernels.litert.temporaries.filling import dims, needed, number, slot
from outlive.kernels.litert.temporaries.lstm import Cell
from outlive.kernels.litert.temporaries.recurrent import added_at_init, is_hybrid
from outlive.kernels.litert.temporary import Situation, Slots, Temporary

_SLOTS = 19
# The inputs: tflite/kernels/bidirectional_sequence_lstm.cc. The backward cell's are 17 behind the forward's.
_INPUT_TO_INPUT, _INPUT_TO_OUTPUT, _RECURRENT_TO_OUTPUT, _PROJECTION = 1, 4, 8, 16
_BACKWARD = 17
_STATES = (35, 37, 36, 38)  # activation forward and backward, then cell forward and backward
_AUXILIARY, _FORWARD_AUXILIARY_TO_FORGET = 39, 41
_AUXILIARY_TO_OUTPUT = (43, 47)
_SPARE = 16  # floats that spare the matrix library a copy; only the forward cell has them


def bidirectional_lstm(situation: Situation) -> Slots | None:
    """Scratch of both directions, and what quantizing on the fly takes."""
    shape = dims(situation, needed(situation, 0), 3)
    batch = shape[1] if number(situation, "time_major") else shape[0]
    cells = [_cell(situation, batch, offset) for offset in (0, _BACKWARD)]
    filled = [
        slot(cells[0].gates(_SPARE), "float32", name="fw_scratch"),
        slot(cells[1].gates(0), "float32", name="bw_scratch"),
    ]
    if is_hybrid(situation, _INPUT_TO_OUTPUT):
        filled += _hybrid(situation, shape, cells)
    return added_at_init(_SLOTS, filled)


def _cell(situation: Situation, batch: int, offset: int) -> Cell:
    return Cell(
        batch=batch,
        cells=dims(situation, needed(situation, _INPUT_TO_OUTPUT + offset), 2)[0],
        outputs=dims(situation, needed(situation, _RECURRENT_TO_OUTPUT + offset), 2)[1],
        coupled=situation.input(_INPUT_TO_INPUT + offset) is None,
        projected=situation.input(_PROJECTION + offset) is not None,
    )


def _hybrid(situation: Situation, shape: tuple[int, ...], cells: list[Cell]) -> list[Temporary]:
    dtype = needed(situation, _INPUT_TO_OUTPUT).dtype
    auxiliary = situation.input(_FORWARD_AUXILIARY_TO_FORGET) is not None
    widest = max(cell.cells for cell in cells)
    if auxiliary:
        outer = (dims(situation, needed(situation, position))[0] for position in _AUXILIARY_TO_OUTPUT)
        widest = max(widest, *outer)
    batch = cells[0].batch
    quantized = [shape, *(dims(situation, needed(situation, position)) for position in _STATES)]
    return [
        *(slot(each, dtype, name="quantized") for each in quantized),
        *(slot((batch,), "float32", name="scaling_factors") for _ in range(4)),
        slot((cells[0].cells,), "float32", name="recovered_cell_weights"),
        slot((widest, batch), "int32", name="accum_scratch"),
        *(slot((batch,), "float32", name="zero_points") for _ in range(3)),
        *(_row_sums(cell, auxiliary) for cell in cells),
        *_quantized_auxiliary(situation, dtype, auxiliary),
    ]


def _row_sums(cell: Cell, auxiliary: bool) -> Temporary:
    rows, width = cell.row_sums()
    extra = (3 if cell.coupled else 4) if auxiliary else 0
    return slot((rows + extra, width), "int32", "persistent", name="row_sums")


def _quantized_auxiliary(situation: Situation, dtype: str, auxiliary: bool) -> list[Temporary]:
    if not auxiliary:
        return []
    return [slot(dims(situation, needed(situation, _AUXILIARY)), dtype, name="aux_input_quantized")]
