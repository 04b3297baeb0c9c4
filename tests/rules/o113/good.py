"""The state of a recurrent layer."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, ones, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [
        tensor("x", [1, 4]),
        tensor("w", [2, 4], buffer=1),
        tensor("r", [2, 2], buffer=2),
        tensor("b", [2], buffer=3),
    ]
    tensors += [tensor("state", [1, 2], is_variable=True), tensor("y", [1, 2])]
    step = operator("RNN", [0, 1, 2, 3, 4], [5], "RNNOptions")
    return save(
        tmp_path, tree(graph(tensors, [step], [0], [5]), buffers=[ones(2, 4), ones(2, 2), 2 * ones(2)])
    )
