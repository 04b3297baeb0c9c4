"""A model whose metadata say how old a runtime may be."""

from __future__ import annotations

import numpy as np

from outlive.model import Model, read_source
from outlive.surgery import write
from tests.rules.small import relu


def model_for(version: str) -> Model:
    """A model that needs at least this version, with the padding that converters write."""
    made = relu([1, 4])
    made["buffers"].append({"data": np.frombuffer(version.encode().ljust(16, b"\0"), np.uint8)})
    made["metadata"] = [{"name": "min_runtime_version", "buffer": len(made["buffers"]) - 1}]
    read = read_source(write(made)).model
    assert read is not None
    return read
