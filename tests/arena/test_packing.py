"""What the matrix libraries take beside the arena: planned, and measured in real workers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import outlive
from outlive.interpreter.recorded_run import measure
from tests.arena.tflm_models import scaled
from tests.interpreter.dropin_models import graph, model, op
from tests.model.small import Tree, tensor

KINDS = ("float32", "int8", "hybrid")


def ends(kind: str, data: list[int], weights: list[int], output: list[int]) -> tuple[list[Tree], tuple]:
    """Data, weights, bias and output of a product, and the buffers."""
    real, count = kind != "int8", output[-1]
    low, bias = ({}, {}) if real else (scaled(0.5), scaled(0.05))
    held = {"buffer": 1, **({} if kind == "float32" else scaled(0.1))}
    name = "FLOAT32" if real else "INT8"
    tensors = [
        tensor("x", name, data, **low),
        tensor("w", "FLOAT32" if kind == "float32" else "INT8", weights, **held),
        tensor("b", "FLOAT32" if real else "INT32", [count], buffer=2, **bias),
        tensor("y", name, output, **low),
    ]
    filled = np.ones(weights, np.float32 if kind == "float32" else np.int8)
    return tensors, (filled, np.zeros(count, np.float32 if real else np.int32))


def convolution(kind: str) -> bytes:
    tensors, buffers = ends(kind, [1, 128, 128, 32], [16, 3, 3, 32], [1, 128, 128, 16])
    sides = {"padding": "SAME", "stride_w": 1, "stride_h": 1, "dilation_w_factor": 1, "dilation_h_factor": 1}
    main = graph(tensors, [0], [3], op(0, [0, 1, 2], [3], "Conv2D", **sides))
    return model(["CONV_2D"], main, buffers=buffers)


def dense(kind: str, batch: int = 16, units: int = 1536, depth: int = 1536) -> bytes:
    tensors, buffers = ends(kind, [batch, depth], [units, depth], [batch, units])
    return model(
        ["FULLY_CONNECTED"],
        graph(tensors, [0], [3], op(0, [0, 1, 2], [3], "FullyConnected")),
        buffers=buffers,
    )


CASES = {
    **{f"convolution of {kind}": convolution(kind) for kind in KINDS},
    # Of a float product nothing stays: it has to take so long that somebody looks meanwhile.
    **{f"dense layer of {kind}": dense(kind, 512 if kind == "float32" else 16) for kind in KINDS},
    "dense layer of int8, a single row": dense("int8", 1),
    "dense layer of int8, a single unit": dense("int8", 1, 1, 200_000),
}


@pytest.mark.parametrize("name", CASES)
def test_a_product_takes_what_was_planned(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(CASES[name])
    planned = outlive.plan(path, accelerator="builtin")
    measured = measure(path, accelerator="builtin")
    assert not measured.problem
    assert measured.peak_bytes == pytest.approx(planned.peak_bytes, rel=0.1, abs=500_000)


def test_reference_kernels_pack_nothing() -> None:
    plan = outlive.plan(CASES["convolution of int8"], accelerator="reference")
    assert plan.workspace_bytes == 0


def test_the_room_is_there_when_the_model_runs_and_not_before(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(CASES["dense layer of int8"])
    plan = outlive.plan(path, accelerator="builtin", measure=True)
    assert plan.measured is not None
    load, allocate, invoke = plan.measured["stages"]
    assert (plan.workspace_bytes or 0) > 2_000_000
    assert load["predicted_bytes"] <= allocate["predicted_bytes"] < 500_000
    assert abs(invoke["difference_bytes"]) < 500_000
