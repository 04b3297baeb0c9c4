"""An image of any size, one pixel large in the file, for a convolution of three by three without padding."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, ones, operator, save, tensor, tree

DILATED = {"dilation_w_factor": 1, "dilation_h_factor": 1}


def source(tmp_path: Path) -> Source:
    tensors = [
        tensor("image", [1, 1, 1, 3], shape_signature=[1, -1, -1, 3]),
        tensor("filters", [8, 3, 3, 3], buffer=1),
        tensor("bias", [8], buffer=2),
        tensor("y", [1, 1, 1, 8], shape_signature=[1, -1, -1, 8]),
    ]
    window = {"padding": "VALID", "stride_w": 2, "stride_h": 2, **DILATED}
    step = operator("CONV_2D", [0, 1, 2], [3], "Conv2DOptions", **window)
    return save(tmp_path, tree(graph(tensors, [step], [0], [3]), buffers=[ones(8, 3, 3, 3), ones(8)]))
