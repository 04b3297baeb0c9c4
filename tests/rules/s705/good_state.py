"""The state of a recurrent operator, which writes it itself."""

from __future__ import annotations

from pathlib import Path

from tests.rules.small import graph, noise, operator, save, tensor, tree


def source(tmp_path: Path) -> Path:
    tensors = [
        tensor("x", [1, 3]),
        tensor("features", [2, 3], buffer=1),
        tensor("time", [2, 4], buffer=2),
        tensor("state", [1, 8], is_variable=True),
        tensor("y", [1, 2]),
    ]
    step = operator("SVDF", [0, 1, 2, -1, 3], [4], "SVDFOptions", rank=1)
    made = graph(tensors, [step], [0], [4])
    return save(tmp_path, tree(made, buffers=[noise(2, 3), noise(2, 4)]))
