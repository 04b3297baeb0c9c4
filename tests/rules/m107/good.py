"""Large constants of float16, and float32 ones too small to matter."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, noise, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    half = noise(4096).astype(np.float16)
    tensors = [tensor("half", [4096], "FLOAT16", buffer=1), tensor("bias", [255], buffer=2)]
    made = graph([tensor("y", [1]), *tensors], [operator("Gather", [1, 2], [0])], [], [0])
    return save(tmp_path, tree(made, buffers=[half, noise(255)]))
