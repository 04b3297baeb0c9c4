"""Random numbers of a shape that is an input, far larger than the file says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from outlive.model import read_source
from outlive.process.flight import Flight, OutputSeen
from tests.rules.small import graph, operator, save, tensor, tree


def facts(tmp_path: Path, shape: tuple[int, ...] = (1000, 1000)) -> dict[str, Any]:
    """The facts of a run that gave an output of this shape."""
    tensors = [tensor("shape", [2], "INT32"), tensor("numbers", [2, 3])]
    made = save(tmp_path, tree(graph(tensors, [operator("RANDOM_UNIFORM", [0], [1])], [0], [1])))
    seen = OutputSeen(
        name="numbers", index=1, shape=shape, dtype="float32", minimum=0.0, maximum=1.0, sha256=""
    )
    flight = Flight(died=False, stage="done", outputs=(seen,))
    return {"flight": flight, "model": read_source(made).model}
