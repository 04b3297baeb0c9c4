"""Temporaries of RNN, the two SEQUENCE_RNN, and SVDF: slots added when the node is made."""

from __future__ import annotations

from outlive.kernels.litert.temporaries.filling import Unprepared, dims, empty, needed, number, slot
from outlive.kernels.litert.temporary import Situation, Slots, Temporary

_RNN_SLOTS, _BIDIRECTIONAL_SLOTS, _SVDF_SLOTS = 6, 9, 6


def added_at_init(count: int, filled: list[Temporary]) -> Slots:
    """So many slots from the start, of which the first are filled and are the node's."""
    spare = (empty(),) * (count - len(filled))
    return Slots(at_init=(*filled, *spare), order=tuple(range(len(filled))))


def is_hybrid(situation: Situation, weights: int) -> bool:
    """True if the input is float and the weights are not: IsHybridOp in tflite/kernels/kernel_util.h."""
    return needed(situation, 0).dtype == "float32" and needed(situation, weights).dtype in ("uint8", "int8")


def rnn(situation: Situation) -> Slots | None:
    """Hybrid scratch: tflite/kernels/basic_rnn.cc."""
    batches = dims(situation, needed(situation, 0))[:1]
    return _rnn(situation, batches)


def unidirectional_rnn(situation: Situation) -> Slots | None:
    """Hybrid scratch: tflite/kernels/unidirectional_sequence_rnn.cc."""
    shape = dims(situation, needed(situation, 0), 3)
    return _rnn(situation, shape[1:2] if number(situation, "time_major") else shape[:1])


def _rnn(situation: Situation, batches: tuple[int, ...]) -> Slots:
    if not is_hybrid(situation, 1):
        return added_at_init(_RNN_SLOTS, [])
    source, weights, state = (needed(situation, position) for position in (0, 1, 4))
    units = dims(situation, weights, 2)[0]
    return added_at_init(
        _RNN_SLOTS,
        [
            slot(dims(situation, source), weights.dtype, name="input_quantized"),
            slot(dims(situation, state), weights.dtype, name="hidden_state_quantized"),
            slot(batches, "float32", name="scaling_factors"),
            slot((units, *batches), "int32", name="accum_scratch"),
            slot(batches, "int32", name="zero_points"),
            slot((2, units), "int32", "persistent", name="Rnn_row_sums"),
        ],
    )


def bidirectional_rnn(situation: Situation) -> Slots | None:
    """Hybrid scratch for both directions: tflite/kernels/bidirectional_sequence_rnn.cc."""
    if not is_hybrid(situation, 1):
        return added_at_init(_BIDIRECTIONAL_SLOTS, [])
    source, forward, backward = (needed(situation, position) for position in (0, 1, 5))
    shape = dims(situation, source, 3)
    batch = shape[1] if number(situation, "time_major") else shape[0]
    units = [dims(situation, weights, 2)[0] for weights in (forward, backward)]
    auxiliary = situation.input(10) is not None
    sums = 3 if auxiliary else 2
    filled = [
        slot(shape, forward.dtype, name="input_quantized"),
        slot(dims(situation, needed(situation, 4)), forward.dtype, name="fw_hidden_state_quantized"),
        slot(dims(situation, needed(situation, 8)), forward.dtype, name="bw_hidden_state_quantized"),
        slot((batch,), "float32", name="scaling_factors"),
        slot((max(units), batch), "int32", name="accum_scratch"),
        slot((batch,), "int32", name="zero_points"),
        slot((sums, units[0]), "int32", "persistent", name="Lstm_fw_row_sums"),
        slot((sums, units[1]), "int32", "persistent", name="Lstm_bw_row_sums"),
    ]
    if auxiliary:
        filled.append(slot(dims(situation, needed(situation, 9)), forward.dtype, name="aux_input_quantized"))
    return added_at_init(_BIDIRECTIONAL_SLOTS, filled)


def svdf(situation: Situation) -> Slots | None:
    """Activations of all filters, and hybrid or integer scratch: tflite/kernels/svdf.cc."""
    source, feature, time = (needed(situation, position) for position in (0, 1, 2))
    shape, filters = dims(situation, source, 2), dims(situation, feature, 2)[0]
    batch, rank = shape[0], number(situation, "rank")
    if rank <= 0:
        raise Unprepared("rank of SVDF")
    filled = [slot((batch, filters), "int32" if source.dtype == "int8" else "float32", name="scratch")]
    if is_hybrid(situation, 1):
        filled += [
            slot(shape, feature.dtype, name="input_quantized"),
            slot((batch,), "float32", name="scaling_factors"),
            slot(dims(situation, time), "float32", "persistent", name="Svdf_float_weights_time"),
            slot((batch,), "float32", name="zero_points"),
            slot((filters,), "float32", "persistent", name="Svdf_row_sums"),
        ]
    elif source.dtype == "int8":
        filled.append(slot((filters // rank, batch), "int32", name="output_temp"))
    return added_at_init(_SVDF_SLOTS, filled)
