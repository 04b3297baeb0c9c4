"""A conversion as JSON: what became of the source."""

from __future__ import annotations

from outlive.model import Tensor
from outlive.quant.converting import Converted
from outlive.rendering.document import Json, document, finding_json


def convert_json(made: Converted) -> Json:
    """The document."""
    body: Json = {
        "source": made.source,
        "output": {"path": made.written or None, "file_bytes": made.file_bytes},
        "settings": {name: _plain(value) for name, value in made.settings.items()},
        "samples": made.samples,
        "seconds": made.seconds,
        "operators": made.operators,
        "inputs": [_tensor(tensor) for tensor in made.inputs],
        "outputs": [_tensor(tensor) for tensor in made.outputs],
        "findings": [finding_json(item) for item in made.findings],
    }
    return document("convert", body)


def _tensor(tensor: Tensor) -> Json:
    return {
        "name": tensor.name,
        "index": tensor.index,
        "shape": list(tensor.shape_signature or tensor.shape),
        "dtype": tensor.dtype,
    }


def _plain(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
