"""Small models for tests: trees in the schema's field names, and their bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outlive.model import Model, Reading, Tensor, read_source
from outlive.surgery import write

Tree = dict[str, Any]


def tensor(name: str = "x", kind: str | int = "FLOAT32", shape: Sequence[int] = (2,), **fields: Any) -> Tree:
    """One tensor's tree."""
    return {"name": name, "type": kind, "shape": list(shape), **fields}


def tree(
    tensors: Sequence[Tree] = ({"name": "x", "shape": [2]},),
    buffers: Sequence[Tree] = (),
    operators: Sequence[Tree] = (),
    codes: Sequence[Tree] = ({"builtin_code": "RELU"},),
    **root: Any,
) -> Tree:
    """A model of one subgraph: the first tensor is its input, the last its output; buffer 0 is added."""
    main = {
        "tensors": list(tensors),
        "inputs": [0],
        "outputs": [len(tensors) - 1],
        "operators": list(operators),
    }
    return {
        "version": 3,
        "operator_codes": list(codes),
        "buffers": [{}, *buffers],
        "subgraphs": [main],
        **root,
    }


def build(*arguments: Any, outside: bool = False, **fields: Any) -> bytes:
    """The bytes of `tree(...)`."""
    return write(tree(*arguments, **fields), outside=outside)


def read_clean(data: bytes) -> Model:
    """The model; no flaw is expected."""
    reading = read_source(data)
    assert flaws(reading) == []
    assert reading.model is not None
    return reading.model


def read_tensor(data: bytes) -> Tensor:
    """The last tensor of the main subgraph; no flaw is expected."""
    return read_clean(data).subgraphs[0].tensors[-1]


def flaws(reading: Reading) -> list[str]:
    """What is wrong, each as `kind: place: detail`."""
    return [f"{flaw.kind}: {flaw.place}: {flaw.detail}" for flaw in reading.flaws]
