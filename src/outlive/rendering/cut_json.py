"""A part of a model as a JSON document."""

from __future__ import annotations

import hashlib

from outlive.model import Model
from outlive.rendering.document import Json, document
from outlive.surgery import Cut, CutTensor


def cut_json(part: Cut, model: Model, path: str) -> Json:
    """The document of `outlive cut`: where it was written, and what each thing in it was in the whole."""
    operators = model.subgraphs[0].operators
    body = {
        "model": {"path": model.path, "sha256": model.sha256, "file_bytes": model.file_bytes},
        "part": {
            "path": path,
            "sha256": hashlib.sha256(part.model).hexdigest(),
            "file_bytes": part.file_bytes,
        },
        "inputs": [_tensor(item) for item in part.inputs],
        "outputs": [_tensor(item) for item in part.outputs],
        "ops": [
            {"index": new, "original": old, "type": operators[old].name} for new, old in enumerate(part.ops)
        ],
        "tensors": list(part.tensors),
        "subgraphs": list(part.subgraphs),
        "came_along": list(part.came_along),
        "state": list(part.state),
        "dropped": list(part.dropped),
        "shapes_from": part.shapes_from,
    }
    return document("cut", body)


def _tensor(item: CutTensor) -> Json:
    return {
        "index": item.index,
        "original": item.original,
        "name": item.name,
        "shape": list(item.shape),
        "dtype": item.dtype,
    }
