"""The second operator makes numbers that are not finite of what is finite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from outlive.model import Model, read_source
from outlive.process.flight import Flight, InsideSeen, OutputSeen, TensorSeen
from tests.rules.small import graph, noise, operator, save, tensor, tree

Facts = dict[str, Any]


def row(
    index: int, not_finite: int = 0, varies: bool = False, span: tuple[float, float] = (0, 1)
) -> TensorSeen:
    """A tensor of 8 numbers."""
    low, high = span
    return TensorSeen(index=index, size=8, not_finite=not_finite, varies=varies, minimum=low, maximum=high)


def inside(*rows: TensorSeen, chosen: bool = False, runs: int = 1) -> InsideSeen:
    """What was seen inside."""
    return InsideSeen(runs=runs, chosen=chosen, tensors=rows)


def landed(not_finite: int = 0, **fields: Any) -> Flight:
    """A run whose only output is tensor 3."""
    seen = OutputSeen(
        name="y",
        index=3,
        shape=(1, 8),
        dtype="float32",
        minimum=0.0,
        maximum=0.0,
        sha256="",
        not_finite=not_finite,
    )
    return Flight(died=False, stage="done", outputs=(seen,), **fields)


def layers(tmp_path: Path, second: str = "FULLY_CONNECTED", weights: Any = None) -> Model:
    """x, RELU, and a second operator with weights."""
    tensors = [
        tensor("x", [1, 8]),
        tensor("h", [1, 8]),
        tensor("weights", [8, 8], buffer=1),
        tensor("y", [1, 8]),
    ]
    steps = [operator("RELU", [0], [1]), operator(second, [1, 2], [3])]
    values = noise(8, 8) if weights is None else weights
    model = read_source(save(tmp_path, tree(graph(tensors, steps, [0], [3]), buffers=[values]))).model
    assert model is not None
    return model


def facts(tmp_path: Path) -> Facts:
    return {
        "flight": landed(2, inside=inside(row(0), row(1), row(3, not_finite=2))),
        "model": layers(tmp_path),
    }
