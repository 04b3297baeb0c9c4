"""What TFLM refuses is told and not planned: the operator, and the reason in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from outlive.arena.plan import Plan, Question
from outlive.arena.tflm.planning import plan_tflm
from outlive.model import read_source
from outlive.surgery import write
from tests.arena.tflm_models import ALL, scaled
from tests.interpreter.dropin_models import graph, model, op
from tests.model.small import Tree, tensor


def one(code: str, tensors: list[Tree], options: str = "", *, outputs: int = 1, **fields: Any) -> bytes:
    """A model of one operator: the last tensors are its outputs, those without a buffer its inputs."""
    last = len(tensors) - outputs
    given = [index for index in range(last) if not tensors[index].get("buffer")]
    step = op(0, list(range(last)), list(range(last, len(tensors))), options, **fields)
    constants = (np.zeros(64, np.int32),)
    return model([code], graph(tensors, given, list(range(last, len(tensors))), step), buffers=constants)


def image(kind: str, **more: Any) -> Tree:
    return tensor("i", kind, [1, 4, 4, 2], **more)


def weights(kind: str, **more: Any) -> Tree:
    return tensor("w", kind, [2, 1, 1, 2], buffer=1, **more)


def row(kind: str = "FLOAT32", count: int = 4, **more: Any) -> Tree:
    return tensor("r", kind, [count], **more)


Q = scaled(0.5)
REFUSED: dict[str, tuple[bytes, str]] = {
    "an operator TFLM lacks": (one("ATAN2", [row(), row(), row()]), "TFLM has no kernel for ATAN2"),
    "a hybrid convolution": (
        one("CONV_2D", [image("FLOAT32"), weights("INT8", **Q), image("FLOAT32")], "Conv2D"),
        "float32 input with a int8 filter is not supported",
    ),
    "an uint8 convolution": (
        one("CONV_2D", [image("UINT8", **Q), weights("UINT8", **Q), image("UINT8", **Q)], "Conv2D"),
        "uint8 input with a uint8 filter is not supported",
    ),
    "a hybrid dense layer": (
        one(
            "FULLY_CONNECTED",
            [
                tensor("x", "FLOAT32", [1, 8]),
                tensor("w", "INT8", [4, 8], buffer=1, **Q),
                tensor("y", "FLOAT32", [1, 4]),
            ],
            "FullyConnected",
        ),
        "float32 input with a int8 filter is not supported",
    ),
    "half precision weights": (
        one("DEQUANTIZE", [row("FLOAT16", buffer=1), row()]),
        "input of type float16 is not supported, only int8, int16, uint8",
    ),
    "a shape known only in the run": (
        one("FILL", [row("INT32", 1), tensor("v", "FLOAT32", []), row()]),
        "its dims are not a constant",
    ),
    "a slice known only in the run": (
        one("STRIDED_SLICE", [row(), *[row("INT32", 1) for _ in range(3)], row()], "StridedSlice"),
        "its begin is not a constant",
    ),
    "too many inputs": (
        one("CONCATENATION", [*[row() for _ in range(11)], row("FLOAT32", 44)], "Concatenation"),
        "it has 11 inputs, at most 10 are supported",
    ),
    "an uint8 concatenation": (
        one("CONCATENATION", [row("UINT8"), row("UINT8"), row("UINT8", 8)], "Concatenation"),
        "input of type uint8 is not supported",
    ),
    "sides of two types": (
        one(
            "BATCH_MATMUL",
            [
                tensor("a", "INT16", [2, 2], **Q),
                tensor("b", "INT8", [2, 2], **Q),
                tensor("y", "INT16", [2, 2], **Q),
            ],
            "BatchMatMul",
        ),
        "sides are int16 and int8, not of one type",
    ),
    "an output without a fixed shape": (
        one("CAST", [row(), tensor("y", "INT32", [0, 4])], "Cast"),
        "tensor 1 has no fixed shape",
    ),
    "a scalar softmax": (
        one("SOFTMAX", [tensor("x", "FLOAT32", []), tensor("y", "FLOAT32", [])], "Softmax"),
        "its input is a scalar",
    ),
    "text": (
        one("SHAPE", [tensor("x", "STRING", [2]), row("INT32", 1)], "Shape"),
        "tensor 0 of subgraph 0 is string, a type TFLM has no size for",
    ),
    "an int8 sum without scales": (
        one("ADD", [row("INT8"), row("INT8"), row("INT8")], "Add"),
        "int8 output without quantization",
    ),
    "a squeeze of more than ones": (
        one("SQUEEZE", [tensor("x", "FLOAT32", [1, 4]), row()], "Squeeze", squeeze_dims=[1]),
        "it squeezes a dimension that is not 1",
    ),
    "a bias of another scale": (
        one(
            "FULLY_CONNECTED",
            [
                tensor("x", "INT8", [1, 8], **Q),
                tensor("w", "INT8", [4, 8], buffer=1, **Q),
                tensor("b", "INT32", [4], buffer=1, **scaled(4.0)),
                tensor("y", "INT8", [1, 4], **Q),
            ],
            "FullyConnected",
        ),
        "bias scale 4 is not input scale times filter scale",
    ),
}


def plan(data: bytes, **question: Any) -> Plan:
    """The plan of a model in bytes, whatever is wrong with them."""
    read = read_source(data).model
    assert read is not None
    return plan_tflm(read, Question(accelerator="tflm", **question))


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused_with_the_reason(name: str) -> None:
    data, reason = REFUSED[name]
    answer = plan(data)
    assert answer.refusals[0].reason.startswith(reason)
    sizes = (answer.arena_bytes, answer.persistent_bytes, answer.min_arena_bytes, answer.peak_bytes)
    assert sizes == (None, None, None, None)
    assert not answer.exact
    assert (*answer.placements, *answer.ops, *answer.parts) == ()


def test_every_operator_that_is_missing_is_named_once() -> None:
    tensors = [row() for _ in range(5)]
    steps = [op(0, [0], [1]), op(1, [1], [2]), op(0, [2], [3]), op(2, [3], [4])]
    data = model(["POW", "GELU", "RELU"], graph(tensors, [0], [4], *steps))
    assert [(refusal.type, refusal.op) for refusal in plan(data).refusals] == [("POW", 0), ("GELU", 1)]


@pytest.mark.parametrize("name", ["ethos-u", "edgetpu-custom-op", "", "Signalrfft"])
def test_a_custom_operator_tflm_does_not_bring_is_missing(name: str) -> None:
    tree = graph([row(), row()], [0], [1], op(0, [0], [1]))
    codes = [{"builtin_code": "CUSTOM", "custom_code": name}]
    data = write({"version": 3, "operator_codes": codes, "buffers": [{}], "subgraphs": [tree]})
    assert plan(data).refusals[0].reason.startswith("TFLM has no kernel for")


def test_subgraphs_that_call_each_other_without_end_are_refused() -> None:
    tensors = [tensor("go", "BOOL", [1]), row(), row()]
    step = op(0, [0, 1], [2], "If", then_subgraph_index=1, else_subgraph_index=1)
    inner = graph(tensors, [1], [2], step)
    answer = plan(model(["IF"], graph(tensors, [0, 1], [2], step), inner))
    assert "is called by itself" in answer.refusals[0].reason


def test_a_tensor_too_large_for_tflm_is_refused() -> None:
    data = one("RELU", [row("FLOAT32", 2**30), row("FLOAT32", 2**30)])
    assert "has no size TFLM can hold" in plan(data).refusals[0].reason


@pytest.mark.parametrize("name", sorted(ALL))
def test_no_damage_to_a_file_ends_in_anything_but_a_plan(name: str) -> None:
    data = ALL[name]
    for place in range(0, len(data), max(len(data) // 60, 1)):
        for value in (0, 0x7F, 0xFF):
            damaged = data[:place] + bytes([value]) + data[place + 1 :]
            read = read_source(damaged).model
            if read is not None:
                answer = plan_tflm(read, Question(accelerator="tflm"))
                assert (answer.arena_bytes is None) == bool(answer.refusals)


def test_subgraphs_that_call_each_other_over_and_over_are_refused_by_the_work_they_make() -> None:
    """A thousand walks over a thousand inputs each: few operators, and still too much to look at."""

    def part(which: int) -> Tree:
        tensors, many = [tensor("go", "BOOL", [1]), row(), row()], [1] * 1000
        branches = {"then_subgraph_index": which + 1, "else_subgraph_index": which + 1}
        steps = [op(0, [0, *many], [2], "If", **branches)] if which < 10 else []
        return graph(tensors, many, [2], *steps)

    answer = plan(model(["IF"], *map(part, range(11))))
    assert "too often" in answer.refusals[0].reason
