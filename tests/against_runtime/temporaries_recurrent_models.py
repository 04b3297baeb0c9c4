"""Recurrent operators, and those that stand alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from flatbuffers import flexbuffers

from tests.against_runtime.temporaries_models import (
    Case,
    Given,
    constant,
    given,
    graph,
    model,
    numbers,
    single,
    sparse,
    step,
)

BATCH, TIME, DEPTH, CELLS, OUTPUTS = 2, 3, 5, 6, 4
ONE = (1.0,)
STATE_SCALE = (1.0 / 32768,)


def _weights(kind: str, *shape: int, thin: bool = False) -> Given:
    scales = () if kind == "FLOAT32" else ONE
    if thin:
        return constant(kind, *shape, scales=scales, sparsity=sparse(*shape), stored=shape[0])
    return constant(kind, *shape, scales=scales)


def _gates(kind: str, *, coupled: bool, projected: bool, thin: bool = False) -> list[Given | None]:
    """Inputs 1 to 17 of a cell: matrices, no peepholes, biases, projection."""
    outputs = OUTPUTS if projected else CELLS
    gate = "INT32" if kind == "INTEGER" else "FLOAT32"
    kind = "INT8" if kind == "INTEGER" else kind
    into = [_weights(kind, CELLS, DEPTH, thin=thin) for _ in range(4)]
    again = [_weights(kind, CELLS, outputs, thin=thin) for _ in range(4)]
    biases: list[Given | None] = [constant(gate, CELLS) for _ in range(4)]
    first: list[Given | None] = [*into, *again]
    if coupled:
        first[0] = first[4] = biases[0] = None
    projection = [_weights(kind, outputs, CELLS, thin=thin), None] if projected else [None, None]
    return [*first, None, None, None, *biases, *projection]


def _states(projected: bool, integer: bool = False) -> list[Given]:
    outputs = OUTPUTS if projected else CELLS
    kinds = ("INT8", "INT16") if integer else ("FLOAT32", "FLOAT32")
    scales = (ONE, STATE_SCALE) if integer else ((), ())
    return [
        Given(kind, (BATCH, size), variable=True, scales=scale)
        for kind, size, scale in zip(kinds, (outputs, CELLS), scales, strict=True)
    ]


def _between(count: int) -> list[Given]:
    """Tensors that carry only the scales of what an integer cell computes."""
    return [Given("INT16" if count == 5 else "INT8", (0,), scales=ONE) for _ in range(count)]


def cells() -> Iterator[Case]:
    for kind, coupled, projected in product(("FLOAT32", "INT8", "UINT8"), (False, True), (False, True)):
        name = f"{kind}{'_coupled' * coupled}{'_projected' * projected}"
        gates = _gates(kind, coupled=coupled, projected=projected)
        outputs = OUTPUTS if projected else CELLS
        one = [given("FLOAT32", BATCH, DEPTH), *gates, *_states(projected)]
        yield f"lstm_{name}", single("LSTM", one, [given("FLOAT32", BATCH, outputs)], "LSTM")
        for major in (False, True):
            shape = (TIME, BATCH) if major else (BATCH, TIME)
            many = [given("FLOAT32", *shape, DEPTH), *gates, *_states(projected)]
            result = [given("FLOAT32", *shape, outputs)]
            options = "UnidirectionalSequenceLSTM"
            built = single("UNIDIRECTIONAL_SEQUENCE_LSTM", many, result, options, time_major=major)
            yield f"sequence_lstm_{name}{'_major' * major}", built
    gates = _gates("INT8", coupled=True, projected=True, thin=True)
    inputs = [given("FLOAT32", BATCH, DEPTH), *gates, *_states(True)]
    yield "lstm_sparse", single("LSTM", inputs, [given("FLOAT32", BATCH, OUTPUTS)], "LSTM")


def integer_cells() -> Iterator[Case]:
    for coupled in (False, True):
        gates = _gates("INTEGER", coupled=coupled, projected=False)
        source = given("INT8", BATCH, DEPTH, scales=ONE)
        inputs = [source, *gates, *_states(False, integer=True)]
        result = [given("INT8", BATCH, CELLS, scales=ONE)]
        name = f"lstm_integer{'_coupled' * coupled}"
        yield name, single("LSTM", inputs, result, "LSTM", intermediates=_between(5))
        yield f"{name}_8", single("LSTM", inputs, result, "LSTM", intermediates=_between(12))
        many = [given("INT8", BATCH, TIME, DEPTH, scales=ONE), *gates, *_states(False, integer=True)]
        results = [given("INT8", BATCH, TIME, CELLS, scales=ONE)]
        options = "UnidirectionalSequenceLSTM"
        yield (
            f"sequence_{name}",
            single("UNIDIRECTIONAL_SEQUENCE_LSTM", many, results, options, intermediates=_between(5)),
        )


def basic_cell() -> Iterator[Case]:
    depth = DEPTH + CELLS
    inputs = [
        given("FLOAT32", BATCH, DEPTH),
        given("FLOAT32", BATCH, CELLS),
        constant("FLOAT32", 4 * CELLS, depth),
        constant("FLOAT32", 4 * CELLS),
        given("FLOAT32", BATCH, CELLS),
    ]
    sizes = (CELLS, CELLS, depth, 4 * CELLS)
    outputs = [given("FLOAT32", BATCH, size) for size in sizes]
    options: Any = {"kernel_type": "BASIC", "fused_activation_function": "TANH"}
    yield "lstm_basic", single("LSTM", inputs, outputs, "LSTM", **options)


def both_ways() -> Iterator[Case]:
    for kind, coupled, auxiliary in product(("FLOAT32", "INT8"), (False, True), (False, True)):
        gates = _gates(kind, coupled=coupled, projected=True)
        extra: list[Given | None] = [None] * 9
        if auxiliary:
            side: list[Given | None] = [_weights(kind, CELLS, DEPTH) for _ in range(4)]
            side[0] = None if coupled else side[0]
            extra = [given("FLOAT32", TIME, BATCH, DEPTH), *side, *side]
        source = given("FLOAT32", TIME, BATCH, DEPTH)
        inputs = [source, *gates, *gates, *_states(True), *_states(True), *extra]
        results = [given("FLOAT32", TIME, BATCH, OUTPUTS) for _ in range(2)]
        name = f"bidirectional_lstm_{kind}{'_coupled' * coupled}{'_aux' * auxiliary}"
        options = "BidirectionalSequenceLSTM"
        yield name, single("BIDIRECTIONAL_SEQUENCE_LSTM", inputs, results, options, time_major=True)


def _rnn(kind: str) -> list[Given]:
    return [
        _weights(kind, CELLS, DEPTH),
        _weights(kind, CELLS, CELLS),
        constant("FLOAT32", CELLS),
        Given("FLOAT32", (BATCH, CELLS), variable=True),
    ]


def plain_networks() -> Iterator[Case]:
    for kind in ("FLOAT32", "INT8", "UINT8"):
        one = [given("FLOAT32", BATCH, DEPTH), *_rnn(kind)]
        yield f"rnn_{kind}", single("RNN", one, [given("FLOAT32", BATCH, CELLS)], "RNN")
        for major in (False, True):
            shape = (TIME, BATCH) if major else (BATCH, TIME)
            source, result = given("FLOAT32", *shape, DEPTH), given("FLOAT32", *shape, CELLS)
            name = f"{kind}{'_major' * major}"
            many = [source, *_rnn(kind)]
            built = single("UNIDIRECTIONAL_SEQUENCE_RNN", many, [result], "SequenceRNN", time_major=major)
            yield f"sequence_rnn_{name}", built
            for extra in ([None] * 3, [source, _weights(kind, CELLS, DEPTH), _weights(kind, CELLS, DEPTH)]):
                twice = [source, *_rnn(kind), *_rnn(kind), *extra]
                options = "BidirectionalSequenceRNN"
                built = single(
                    "BIDIRECTIONAL_SEQUENCE_RNN", twice, [result, result], options, time_major=major
                )
                yield f"bidirectional_rnn_{name}{'_aux' * (extra[0] is not None)}", built


def filters_over_time() -> Iterator[Case]:
    filters, memory, rank = 6, 7, 2
    for name, kind, weights, time in (
        ("float", "FLOAT32", "FLOAT32", "FLOAT32"),
        ("hybrid", "FLOAT32", "INT8", "INT8"),
        ("hybrid_uint8", "FLOAT32", "UINT8", "UINT8"),
        ("integer", "INT8", "INT8", "INT16"),
    ):
        integer = kind == "INT8"
        scales = ONE if integer else ()
        state = Given(
            "INT16" if integer else "FLOAT32", (BATCH, filters * memory), variable=True, scales=scales
        )
        inputs = [
            given(kind, BATCH, DEPTH, scales=scales),
            _weights(weights, filters, DEPTH),
            _weights(time, filters, memory),
            constant("INT32" if integer else "FLOAT32", filters // rank),
            state,
        ]
        result = given(kind, BATCH, filters // rank, scales=scales)
        yield f"svdf_{name}", single("SVDF", inputs, [result], "SVDF", rank=rank)


def transforms() -> Iterator[Case]:
    for height, width in ((4, 8), (16, 4), (1, 512), (32, 2)):
        for name, lengths in (("known", numbers(height, width)), ("fed", given("INT32", 2))):
            inputs = [given("FLOAT32", 3, height, width), lengths]
            result = given("COMPLEX64", 3, height, width // 2 + 1)
            yield f"rfft2d_{height}_{width}_{name}", single("RFFT2D", inputs, [result], "Rfft2d")


def alone() -> Iterator[Case]:
    for count in (2, 3, 4, 7, 9):
        summed: Sequence[Given] = [given("FLOAT32", 3, 5)] * count
        yield f"add_n_{count}", single("ADD_N", summed, [given("FLOAT32", 3, 5)], "AddN")
    settings: Any = {"max_detections": 10, "max_classes_per_detection": 1, "num_classes": 3}
    settings |= {f"{axis}_scale": 5.0 for axis in "hwxy"} | {
        "nms_iou_threshold": 0.5,
        "nms_score_threshold": 0.1,
    }
    boxes = [given("FLOAT32", 1, 20, 4), given("FLOAT32", 1, 20, 4), constant("FLOAT32", 20, 4)]
    found = [given("FLOAT32", 1, 10, 4), *(given("FLOAT32", 1, 10) for _ in range(2)), given("FLOAT32", 1)]
    code = "TFLite_Detection_PostProcess"
    yield "detection", single(code, boxes, found, custom=bytes(flexbuffers.Dumps(settings)))
    checked = [given("INT8", 3, 5, scales=ONE), given("FLOAT32", 3, 5)]
    limits = bytes(flexbuffers.Dumps({"tolerance": 5.0, "log_if_failed": False}))
    yield "verified", single("NumericVerify", checked, [given("FLOAT32", 3, 5)], custom=limits)


def windows() -> Iterator[Case]:
    """Sums over windows, with the sum in a subgraph of its own."""
    for dilation, padding in ((1, (0, 0, 0, 0)), (2, (1, 2, 0, 1)), (3, (0, 0, -1, 0))):
        sizes = [(size - 1) * dilation + 1 + sum(padding[at : at + 2]) for size, at in ((4, 0), (5, 2))]
        main = [given("FLOAT32", 4, 5), constant("FLOAT32"), given("FLOAT32", sizes[0] - 1, sizes[1] - 1)]
        options = {
            "window_dimensions": [2, 2],
            "window_strides": [1, 1],
            "base_dilations": [dilation] * 2,
            "window_dilations": [1, 1],
            "padding": list(padding),
            "body_subgraph_index": 1,
        }
        operator = {
            "opcode_index": 0,
            "inputs": [0, 1],
            "outputs": [2],
            "builtin_options_2_type": "StablehloReduceWindowOptions",
            "builtin_options_2": options,
        }
        body = [given("FLOAT32"), given("FLOAT32"), given("FLOAT32")]
        graphs = [graph(main, [operator], [2]), graph(body, [step(1, [0, 1], [2], "Add")], [2], 2)]
        yield f"reduce_window_{dilation}", model(["STABLEHLO_REDUCE_WINDOW", "ADD"], graphs, [main, body])


def all_cases() -> Iterator[Case]:
    """Every model here, with its name."""
    groups = (
        cells,
        integer_cells,
        basic_cell,
        both_ways,
        plain_networks,
        filters_over_time,
        transforms,
        alone,
        windows,
    )
    for group in groups:
        yield from group()
