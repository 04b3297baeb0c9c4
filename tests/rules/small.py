"""Small trees for `outlive.surgery.write`, and places to put the bytes: what the rule cases are made of."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from outlive.model.schema import load_schema
from outlive.surgery import write

Tree = dict[str, Any]


def tensor(name: str | bytes, shape: Sequence[int], type: str | int = "FLOAT32", **fields: Any) -> Tree:
    """A tensor; `buffer=1` makes it a constant."""
    return {"name": name, "shape": list(shape), "type": type, **fields}


def operator(
    kind: str, inputs: Sequence[int], outputs: Sequence[int], options: str = "", **fields: Any
) -> Tree:
    """An operator; the list of codes is made by `tree`."""
    made: Tree = {"kind": kind, "inputs": list(inputs), "outputs": list(outputs)}
    if options:
        made |= {"builtin_options_type": options, "builtin_options": fields}
    return made


def graph(
    tensors: Sequence[Tree], operators: Sequence[Tree], inputs: Sequence[int], outputs: Sequence[int]
) -> Tree:
    """A subgraph."""
    return {"tensors": list(tensors), "operators": list(operators), "inputs": inputs, "outputs": outputs}


def tree(*graphs: Tree, buffers: Sequence[Any] = (), **more: Any) -> Tree:
    """A model; buffer 0 is the empty one, the given ones are counted from 1."""
    kinds = sorted({step["kind"] for item in graphs for step in item["operators"]})
    subgraphs = [item | {"operators": [_coded(step, kinds) for step in item["operators"]]} for item in graphs]
    data = [{"data": item} for item in buffers]
    codes = [code(kind) for kind in kinds]
    return {"version": 3, "operator_codes": codes, "subgraphs": subgraphs, "buffers": [{}, *data], **more}


def code(kind: str) -> Tree:
    """An operator code; a kind that is no builtin is a custom one."""
    if kind not in _numbers():
        return {"builtin_code": "CUSTOM", "deprecated_builtin_code": 32, "custom_code": kind}
    return {"builtin_code": kind, "deprecated_builtin_code": min(127, _numbers()[kind])}


def dense(**changes: Any) -> Tree:
    """One dense layer, with nothing wrong with it; `weights=...` changes fields of a tensor."""
    tensors = {
        "x": tensor("x", [1, 4]),
        "weights": tensor("weights", [2, 4], buffer=1),
        "y": tensor("y", [1, 2]),
    }
    tensors = {name: made | changes.pop(name, {}) for name, made in tensors.items()}
    step = operator("FULLY_CONNECTED", [0, 1, -1], [2], "FullyConnectedOptions") | changes.pop("op", {})
    constants = changes.pop("buffers", [ones(2, 4)])
    return tree(graph(list(tensors.values()), [step], [0], [2]), buffers=constants, **changes)


def relu(shape: Sequence[int]) -> Tree:
    """A single RELU over a tensor of this shape."""
    return tree(graph([tensor("x", shape), tensor("y", shape)], [operator("RELU", [0], [1])], [0], [1]))


def ones(*shape: int) -> np.ndarray[Any, Any]:
    """A constant of float32 ones."""
    return np.ones(shape, np.float32)


def noise(*shape: int) -> np.ndarray[Any, Any]:
    """A constant of float32 whose rows differ."""
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def save(folder: Path, content: bytes | str | Mapping[str, Any], name: str = "model.tflite") -> Path:
    """The path of a new file with these bytes, this text, or the model of this tree."""
    path = folder / name
    if isinstance(content, Mapping):
        content = write(content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def archive(*names: str) -> bytes:
    """A zip archive with files of these names, the same on every day."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as opened:
        for name in names:
            opened.writestr(zipfile.ZipInfo(name), "content")
    return file.getvalue()


@cache
def _numbers() -> dict[str, int]:
    return {name: number for number, name in load_schema().enums["BuiltinOperator"].names.items()}


def _coded(step: Tree, kinds: list[str]) -> Tree:
    rest = {name: value for name, value in step.items() if name != "kind"}
    return {"opcode_index": kinds.index(step["kind"]), **rest}
