"""Layers that carry a state from step to step: RNN, SVDF, LSTM and their sequence forms."""

from dataclasses import dataclass

from outlive.kernels.litert.kernel import (
    LiteRTKernel,
    PreparedOutputs,
    Slots,
    added_at_init,
    empty,
    shaped,
    slot,
)
from outlive.kernels.litert.matrices import sparse_temporary
from outlive.kernels.litert.tensor_table import Temporary
from outlive.kernels.litert.view import PrepareView, Unprepared, require
from outlive.model import Tensor

# Places of inputs, and how many slots each kernel adds: tflite/kernels/lstm_shared.h,
# bidirectional_sequence_lstm.cc (the backward cell's are 17 behind the forward's), basic_rnn.cc, svdf.cc.
_INPUT_TO_INPUT, _INPUT_TO_OUTPUT, _RECURRENT_TO_OUTPUT, _PROJECTION = 1, 4, 8, 16
_OUTPUT_STATE, _CELL_STATE = 18, 19
_SPARSE = (1, 2, 3, 4, 5, 6, 7, 8, _PROJECTION)
_BACKWARD_WEIGHTS = 5  # of an RNN
_BACKWARD = 17
_STATES = (35, 37, 36, 38)  # activation forward and backward, then cell forward and backward
_AUXILIARY, _FORWARD_AUXILIARY_TO_FORGET = 39, 41
_AUXILIARY_TO_OUTPUT = (43, 47)
_RNN_SLOTS, _BIDIRECTIONAL_SLOTS, _SVDF_SLOTS = 6, 9, 6
_LSTM_SLOTS, _LEDGERS, _BIDIRECTIONAL_LSTM_SLOTS = 12, 9, 19
# Gates of 16 bits, a hidden state of 8, sums of 32; and the older kernel whose products have 8 bits.
_INTEGER_16 = ("int16", "int16", "int16", "int16", "int8", "int32")
_INTEGER_8 = ("int8", "int8", "int16", "int16", "int16", "int16", "int16", "int16")
_SPARE = 16  # floats that spare the matrix library a copy; a bidirectional layer has them forward only


def _unidirectional_lstm_shape(view: PrepareView) -> PreparedOutputs:
    """The input with the output's units last: tflite/kernels/unidirectional_sequence_lstm.cc."""
    source, recurrent = view.shape(0), view.shape(_RECURRENT_TO_OUTPUT)
    require(bool(source) and len(recurrent) == 2)
    return shaped((*source[:-1], recurrent[1]))


def _lstm_shape(view: PrepareView) -> PreparedOutputs:
    """Batch by units; the basic kernel shows its temporaries as outputs: tflite/kernels/lstm.cc."""
    source = view.shape(0)
    if view.text("kernel_type") != "BASIC":
        return shaped((source[0], view.shape(_RECURRENT_TO_OUTPUT)[1]))
    activation, state = view.shape(1), view.shape(4)
    batch, depth = source
    return shaped(activation, state, (batch, depth + activation[1]), (batch, 4 * activation[1]))


def _rnn_shape(view: PrepareView) -> PreparedOutputs:
    """The input with units last: tflite/kernels/basic_rnn.cc and unidirectional_sequence_rnn.cc."""
    source = view.shape(0)
    steps = 2 if view.operator.type == "UNIDIRECTIONAL_SEQUENCE_RNN" else 1
    require(len(source) == steps + 1)
    return shaped((*source[:-1], view.shape(1)[0]))


def _both_ways(view: PrepareView, forward: int, backward: int) -> PreparedOutputs:
    source = view.shape(0)
    require(len(source) == 3)
    if view.number("merge_outputs"):
        return shaped((*source[:-1], forward + backward))
    return shaped((*source[:-1], forward), (*source[:-1], backward))


def _bidirectional_rnn_shape(view: PrepareView) -> PreparedOutputs:
    """One output, or one for each way: tflite/kernels/bidirectional_sequence_rnn.cc."""
    return _both_ways(view, view.shape(1)[0], view.shape(_BACKWARD_WEIGHTS)[0])


def _bidirectional_lstm_shape(view: PrepareView) -> PreparedOutputs:
    """One output, or one for each way: tflite/kernels/bidirectional_sequence_lstm.cc."""
    forward = view.shape(_RECURRENT_TO_OUTPUT)[1]
    return _both_ways(view, forward, view.shape(_BACKWARD + _RECURRENT_TO_OUTPUT)[1])


def _svdf_shape(view: PrepareView) -> PreparedOutputs:
    """Batch by units: tflite/kernels/svdf.cc."""
    rank = view.number("rank", 1)
    require(rank > 0)
    return shaped((view.shape(0)[0], view.shape(1)[0] // rank))


def _is_hybrid(view: PrepareView, weights: int) -> bool:
    """True if the input is float and the weights are not: IsHybridOp in tflite/kernels/kernel_util.h."""
    return view.needed(0).dtype == "float32" and view.needed(weights).dtype in ("uint8", "int8")


def _rnn_temporaries(view: PrepareView) -> Slots:
    """Hybrid scratch: tflite/kernels/basic_rnn.cc."""
    batches = view.dims(view.needed(0))[:1]
    return _rnn_slots(view, batches)


def _unidirectional_rnn_temporaries(view: PrepareView) -> Slots:
    """Hybrid scratch: tflite/kernels/unidirectional_sequence_rnn.cc."""
    shape = view.dims(view.needed(0), 3)
    return _rnn_slots(view, shape[1:2] if view.number("time_major") else shape[:1])


def _rnn_slots(view: PrepareView, batches: tuple[int, ...]) -> Slots:
    if not _is_hybrid(view, 1):
        return added_at_init(_RNN_SLOTS, [])
    source, weights, state = (view.needed(position) for position in (0, 1, 4))
    units = view.dims(weights, 2)[0]
    return added_at_init(
        _RNN_SLOTS,
        [
            slot(view.dims(source), weights.dtype, name="input_quantized"),
            slot(view.dims(state), weights.dtype, name="hidden_state_quantized"),
            slot(batches, "float32", name="scaling_factors"),
            slot((units, *batches), "int32", name="accum_scratch"),
            slot(batches, "int32", name="zero_points"),
            slot((2, units), "int32", "persistent", name="Rnn_row_sums"),
        ],
    )


def _bidirectional_rnn_temporaries(view: PrepareView) -> Slots:
    """Hybrid scratch for both directions: tflite/kernels/bidirectional_sequence_rnn.cc."""
    if not _is_hybrid(view, 1):
        return added_at_init(_BIDIRECTIONAL_SLOTS, [])
    source, forward, backward = (view.needed(position) for position in (0, 1, 5))
    shape = view.dims(source, 3)
    batch = shape[1] if view.number("time_major") else shape[0]
    units = [view.dims(weights, 2)[0] for weights in (forward, backward)]
    auxiliary = view.input(10) is not None
    sums = 3 if auxiliary else 2
    filled = [
        slot(shape, forward.dtype, name="input_quantized"),
        slot(view.dims(view.needed(4)), forward.dtype, name="fw_hidden_state_quantized"),
        slot(view.dims(view.needed(8)), forward.dtype, name="bw_hidden_state_quantized"),
        slot((batch,), "float32", name="scaling_factors"),
        slot((max(units), batch), "int32", name="accum_scratch"),
        slot((batch,), "int32", name="zero_points"),
        slot((sums, units[0]), "int32", "persistent", name="Lstm_fw_row_sums"),
        slot((sums, units[1]), "int32", "persistent", name="Lstm_bw_row_sums"),
    ]
    if auxiliary:
        filled.append(slot(view.dims(view.needed(9)), forward.dtype, name="aux_input_quantized"))
    return added_at_init(_BIDIRECTIONAL_SLOTS, filled)


def _svdf_temporaries(view: PrepareView) -> Slots:
    """Activations of all filters, and hybrid or integer scratch: tflite/kernels/svdf.cc."""
    source, feature, time = (view.needed(position) for position in (0, 1, 2))
    shape, filters = view.dims(source, 2), view.dims(feature, 2)[0]
    batch, rank = shape[0], view.number("rank")
    if rank <= 0:
        raise Unprepared("rank of SVDF")
    filled = [slot((batch, filters), "int32" if source.dtype == "int8" else "float32", name="scratch")]
    if _is_hybrid(view, 1):
        filled += [
            slot(shape, feature.dtype, name="input_quantized"),
            slot((batch,), "float32", name="scaling_factors"),
            slot(view.dims(time), "float32", "persistent", name="Svdf_float_weights_time"),
            slot((batch,), "float32", name="zero_points"),
            slot((filters,), "float32", "persistent", name="Svdf_row_sums"),
        ]
    elif source.dtype == "int8":
        filled.append(slot((filters // rank, batch), "int32", name="output_temp"))
    return added_at_init(_SVDF_SLOTS, filled)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
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


def _lstm_temporaries(view: PrepareView) -> Slots:
    """Twelve slots and nine for sparse weights; a basic kernel has none: tflite/kernels/lstm.cc."""
    if view.text("kernel_type") == "BASIC":
        return Slots()
    cell = _cell(view, view.dims(view.needed(0), 2)[0])
    temporaries: list[Temporary] = [empty()] * _LEDGERS
    order: tuple[int, ...] | None
    if _is_hybrid(view, _INPUT_TO_OUTPUT):
        filled = _hybrid_lstm(view, cell, spare=0)
        order = tuple(range(_LSTM_SLOTS))
        if view.needed(_INPUT_TO_OUTPUT).sparsity is not None:
            temporaries = [_sparse_temporary(view.input(position)) for position in _SPARSE]
            order = tuple(range(_LSTM_SLOTS + _LEDGERS))
    else:
        filled = _plain(view, cell, spare=0, older=len(view.operator.intermediates) != 5)
        order = tuple(range(len(filled)))
    spare = [empty()] * (_LSTM_SLOTS - len(filled))
    return Slots(at_init=(*filled, *spare, *temporaries), order=order)


def _unidirectional_lstm_temporaries(view: PrepareView) -> Slots:
    """Twelve slots: tflite/kernels/unidirectional_sequence_lstm.cc."""
    shape = view.dims(view.needed(0))
    if len(shape) < 2:
        raise Unprepared("a sequence needs two dimensions")
    cell = _cell(view, shape[1] if view.number("time_major") else shape[0])
    if _is_hybrid(view, _INPUT_TO_OUTPUT):
        return added_at_init(_LSTM_SLOTS, _hybrid_lstm(view, cell, spare=_SPARE))
    return added_at_init(_LSTM_SLOTS, _plain(view, cell, spare=_SPARE, older=False))


def _cell(view: PrepareView, batch: int) -> _Cell:
    recurrent = view.dims(view.needed(_RECURRENT_TO_OUTPUT))
    if not recurrent:
        raise Unprepared("recurrent weights without dimensions")
    return _Cell(
        batch=batch,
        cells=view.dims(view.needed(_INPUT_TO_OUTPUT), 2)[0],
        outputs=recurrent[-1],  # the only one if the matrix is diagonal
        coupled=view.input(_INPUT_TO_INPUT) is None,
        projected=view.input(_PROJECTION) is not None,
    )


def _plain(view: PrepareView, cell: _Cell, *, spare: int, older: bool) -> list[Temporary]:
    source = view.needed(0)
    if source.dtype != "int8":
        return [slot(cell.gates(spare), source.dtype, name="scratch")]
    return [slot((cell.batch, cell.cells), dtype) for dtype in (_INTEGER_8 if older else _INTEGER_16)]


def _hybrid_lstm(view: PrepareView, cell: _Cell, spare: int) -> list[Temporary]:
    source, weights = view.needed(0), view.needed(_INPUT_TO_OUTPUT)
    states = [view.dims(view.needed(position)) for position in (_OUTPUT_STATE, _CELL_STATE)]
    each = (cell.batch,)
    return [
        slot(cell.gates(spare), source.dtype, name="scratch"),
        slot(view.dims(source), weights.dtype, name="input_quantized"),
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


def _sparse_temporary(weights: Tensor | None) -> Temporary:
    if weights is None or weights.sparsity is None:
        return empty("Lstm_ledger")
    return sparse_temporary(weights, "Lstm_ledger")


def _bidirectional_lstm_temporaries(view: PrepareView) -> Slots:
    """Scratch of both directions, and what quantizing on the fly takes."""
    shape = view.dims(view.needed(0), 3)
    batch = shape[1] if view.number("time_major") else shape[0]
    cells = [_directed_cell(view, batch, offset) for offset in (0, _BACKWARD)]
    filled = [
        slot(cells[0].gates(_SPARE), "float32", name="fw_scratch"),
        slot(cells[1].gates(0), "float32", name="bw_scratch"),
    ]
    if _is_hybrid(view, _INPUT_TO_OUTPUT):
        filled += _hybrid_bidirectional(view, shape, cells)
    return added_at_init(_BIDIRECTIONAL_LSTM_SLOTS, filled)


def _directed_cell(view: PrepareView, batch: int, offset: int) -> _Cell:
    return _Cell(
        batch=batch,
        cells=view.dims(view.needed(_INPUT_TO_OUTPUT + offset), 2)[0],
        outputs=view.dims(view.needed(_RECURRENT_TO_OUTPUT + offset), 2)[1],
        coupled=view.input(_INPUT_TO_INPUT + offset) is None,
        projected=view.input(_PROJECTION + offset) is not None,
    )


def _hybrid_bidirectional(view: PrepareView, shape: tuple[int, ...], cells: list[_Cell]) -> list[Temporary]:
    dtype = view.needed(_INPUT_TO_OUTPUT).dtype
    auxiliary = view.input(_FORWARD_AUXILIARY_TO_FORGET) is not None
    widest = max(cell.cells for cell in cells)
    if auxiliary:
        outer = (view.dims(view.needed(position))[0] for position in _AUXILIARY_TO_OUTPUT)
        widest = max(widest, *outer)
    batch = cells[0].batch
    quantized = [shape, *(view.dims(view.needed(position)) for position in _STATES)]
    return [
        *(slot(each, dtype, name="quantized") for each in quantized),
        *(slot((batch,), "float32", name="scaling_factors") for _ in range(4)),
        slot((cells[0].cells,), "float32", name="recovered_cell_weights"),
        slot((widest, batch), "int32", name="accum_scratch"),
        *(slot((batch,), "float32", name="zero_points") for _ in range(3)),
        *(_row_sums(cell, auxiliary) for cell in cells),
        *_quantized_auxiliary(view, dtype, auxiliary),
    ]


def _row_sums(cell: _Cell, auxiliary: bool) -> Temporary:
    rows, width = cell.row_sums()
    extra = (3 if cell.coupled else 4) if auxiliary else 0
    return slot((rows + extra, width), "int32", "persistent", name="row_sums")


def _quantized_auxiliary(view: PrepareView, dtype: str, auxiliary: bool) -> list[Temporary]:
    if not auxiliary:
        return []
    return [slot(view.dims(view.needed(_AUXILIARY)), dtype, name="aux_input_quantized")]


def _basic_lstm_states(view: PrepareView) -> tuple[int, ...]:
    """A basic LSTM moves its states to the persistent arena: tflite/kernels/lstm.cc."""
    states = (view.input(position) for position in (1, 4) if view.text("kernel_type") == "BASIC")
    return tuple(state.index for state in states if state is not None)


KERNELS = {
    "RNN": LiteRTKernel(shapes=_rnn_shape, temporaries=_rnn_temporaries),
    "UNIDIRECTIONAL_SEQUENCE_RNN": LiteRTKernel(
        shapes=_rnn_shape, temporaries=_unidirectional_rnn_temporaries
    ),
    "BIDIRECTIONAL_SEQUENCE_RNN": LiteRTKernel(
        shapes=_bidirectional_rnn_shape, temporaries=_bidirectional_rnn_temporaries
    ),
    "SVDF": LiteRTKernel(shapes=_svdf_shape, temporaries=_svdf_temporaries),
    "LSTM": LiteRTKernel(
        shapes=_lstm_shape, temporaries=_lstm_temporaries, persistent_inputs=_basic_lstm_states
    ),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": LiteRTKernel(
        shapes=_unidirectional_lstm_shape, temporaries=_unidirectional_lstm_temporaries
    ),
    "BIDIRECTIONAL_SEQUENCE_LSTM": LiteRTKernel(
        shapes=_bidirectional_lstm_shape, temporaries=_bidirectional_lstm_temporaries
    ),
}
