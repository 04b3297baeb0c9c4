"""Several, of which the largest are named."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, noise, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    sizes = (512, 1024, 768, 300)
    tensors = [tensor(f"weights{size}", [size], buffer=at) for at, size in enumerate(sizes, 1)]
    step = operator("aeq.hadamard_rotation", [1, 2, 3, 4], [0])
    made = graph([tensor("y", [1]), *tensors], [step], [], [0])
    return save(tmp_path, tree(made, buffers=[noise(size) for size in sizes]))
