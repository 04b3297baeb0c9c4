"""Tensors are made smaller as long as the model ends the same way, and never in vain."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive.diagnosis.smaller_tensors import shrink
from outlive.model import Model, read_source
from tests.interpreter.dropin_models import graph, model, op
from tests.model.small import tensor

SHAPE = [1, 48, 48, 8]


def quantized(scale: float) -> dict[str, Any]:
    return {"scale": [scale], "zero_point": [0]}


def adding(scale: float) -> bytes:
    """A picture and a constant of its size are added; the sum is quantized with this scale."""
    weights = np.arange(math.prod(SHAPE)).astype(np.int8)
    tensors = [
        tensor("x", "INT8", SHAPE, quantization=quantized(0.1)),
        tensor("w", "INT8", SHAPE, buffer=1, quantization=quantized(0.1)),
        tensor("y", "INT8", SHAPE, quantization=quantized(scale)),
    ]
    return model(["ADD"], graph(tensors, [0], [2], op(0, [0, 1], [2], "Add")), buffers=(weights,))


def read(data: bytes) -> Model:
    found = read_source(data).model
    assert found is not None
    return found


def test_weights_that_do_not_matter_are_cut_away(tmp_path: Path) -> None:
    whole, small = adding(math.inf), tmp_path / "small.tflite"
    diagnosis = outlive.diagnose(whole, reduce=small)
    assert (diagnosis.signal, diagnosis.stage) == ("SIGABRT", "allocate")
    assert diagnosis.reproducer is not None
    assert small.stat().st_size < len(whole) / 10
    assert {item.shape for item in read(small.read_bytes()).subgraphs[0].tensors} == {(1, 1, 1, 1)}
    assert outlive.run(small).signal == "SIGABRT"


def test_sizes_that_matter_stay_and_values_are_cut_with_the_tensors() -> None:
    """It ends so only while there are 8 channels; what is given has the shape of the input."""
    given = np.arange(math.prod(SHAPE), dtype=np.int8).reshape(SHAPE)

    def still_ends(data: bytes, inputs: Any) -> bool:
        assert inputs[0].shape == read(data).inputs[0].shape
        return read(data).inputs[0].shape[3] == 8

    found = shrink(adding(1.0), [given, "random"], still_ends, lambda: False)
    assert read(found.model).inputs[0].shape == (1, 1, 1, 8)
    assert found.inputs[0].tolist() == given[:1, :1, :1].tolist()
    assert found.inputs[1] == "random"
    weights = read(found.model).subgraphs[0].tensors[1].data
    assert weights is not None
    assert bytes(weights) == bytes(range(8))


@pytest.mark.parametrize("patience", [0, 3])
def test_it_stops_when_it_takes_too_long(patience: int) -> None:
    trials: list[int] = []
    found = shrink(
        adding(1.0), None, lambda data, _: bool(trials.append(len(data))), lambda: len(trials) >= patience
    )
    assert len(trials) == patience
    assert found.model == adding(1.0)
