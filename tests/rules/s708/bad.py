"""Two detections, and what an earlier run left behind them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from outlive.model import read_source
from outlive.process.flight import Flight, OutputSeen
from tests.rules.small import graph, operator, save, tensor, tree

NAMES = ("boxes", "classes", "scores", "count")


def facts(tmp_path: Path, scores: tuple[float, ...] = (0.9, 0.8, 0.7, 0.0), count: int = 2) -> dict[str, Any]:
    """The facts of a detector that gave these scores, and said how many are detections."""
    shapes = ([1, 4, 4], [1, 4], [1, 4], [1])
    ends = [tensor(name, shape) for name, shape in zip(NAMES, shapes, strict=True)]
    inputs = [tensor("where", [1, 9, 4]), tensor("what", [1, 9, 3]), tensor("anchors", [9, 4])]
    step = operator("TFLite_Detection_PostProcess", [0, 1, 2], [3, 4, 5, 6])
    made = save(tmp_path, tree(graph([*inputs, *ends], [step], [0, 1, 2], [3, 4, 5, 6])))
    values = {"scores": np.array([scores], np.float32), "count": np.array([count], np.float32)}
    outputs = tuple(
        OutputSeen(
            name=name, index=at, shape=tuple(shape), dtype="float32", minimum=0.0, maximum=1.0, sha256=""
        )
        for at, (name, shape) in enumerate(zip(NAMES, shapes, strict=True), 3)
    )
    flight = Flight(died=False, stage="done", outputs=outputs, values=values)
    return {"flight": flight, "model": read_source(made).model}
