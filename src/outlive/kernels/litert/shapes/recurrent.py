"""Shapes of layers that carry a state from step to step."""

from __future__ import annotations

from outlive.kernels.litert.shapes.outcome import Outcomes, Rule, View, need, shaped

# Places of the weights between the state and the output gate, whose columns are the output's units
# (kRecurrentToOutputWeightsTensor: tflite/kernels/lstm_shared.h, bidirectional_sequence_lstm.cc).
_RECURRENT_TO_OUTPUT = 8
_BACKWARD_RECURRENT_TO_OUTPUT = 25
_BACKWARD_WEIGHTS = 5


def unidirectional_lstm(view: View) -> Outcomes:
    """The input with the output's units last: tflite/kernels/unidirectional_sequence_lstm.cc."""
    source, recurrent = view.shape(0), view.shape(_RECURRENT_TO_OUTPUT)
    need(bool(source) and len(recurrent) == 2)
    return shaped((*source[:-1], recurrent[1]))


def lstm(view: View) -> Outcomes:
    """Batch by units; the basic kernel shows its temporaries as outputs: tflite/kernels/lstm.cc."""
    source = view.shape(0)
    if view.text("kernel_type") != "BASIC":
        return shaped((source[0], view.shape(_RECURRENT_TO_OUTPUT)[1]))
    activation, state = view.shape(1), view.shape(4)
    batch, depth = source
    return shaped(activation, state, (batch, depth + activation[1]), (batch, 4 * activation[1]))


def rnn(view: View) -> Outcomes:
    """The input with units last: tflite/kernels/basic_rnn.cc and unidirectional_sequence_rnn.cc."""
    source = view.shape(0)
    steps = 2 if view.operator.type == "UNIDIRECTIONAL_SEQUENCE_RNN" else 1
    need(len(source) == steps + 1)
    return shaped((*source[:-1], view.shape(1)[0]))


def _both_ways(view: View, forward: int, backward: int) -> Outcomes:
    source = view.shape(0)
    need(len(source) == 3)
    if view.number("merge_outputs"):
        return shaped((*source[:-1], forward + backward))
    return shaped((*source[:-1], forward), (*source[:-1], backward))


def bidirectional_rnn(view: View) -> Outcomes:
    """One output, or one for each way: tflite/kernels/bidirectional_sequence_rnn.cc."""
    return _both_ways(view, view.shape(1)[0], view.shape(_BACKWARD_WEIGHTS)[0])


def bidirectional_lstm(view: View) -> Outcomes:
    """One output, or one for each way: tflite/kernels/bidirectional_sequence_lstm.cc."""
    forward = view.shape(_RECURRENT_TO_OUTPUT)[1]
    return _both_ways(view, forward, view.shape(_BACKWARD_RECURRENT_TO_OUTPUT)[1])


def svdf(view: View) -> Outcomes:
    """Batch by units: tflite/kernels/svdf.cc."""
    rank = view.number("rank", 1)
    need(rank > 0)
    return shaped((view.shape(0)[0], view.shape(1)[0] // rank))


RULES: dict[str, Rule] = {
    "UNIDIRECTIONAL_SEQUENCE_LSTM": unidirectional_lstm,
    "LSTM": lstm,
    "RNN": rnn,
    "UNIDIRECTIONAL_SEQUENCE_RNN": rnn,
    "BIDIRECTIONAL_SEQUENCE_RNN": bidirectional_rnn,
    "BIDIRECTIONAL_SEQUENCE_LSTM": bidirectional_lstm,
    "SVDF": svdf,
}
