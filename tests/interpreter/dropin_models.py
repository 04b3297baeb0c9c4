"""Small models for the drop-in's tests, one per kind of tensor that it must handle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from outlive.surgery import write
from tests.model.small import Tree, tensor


def op(code: int, inputs: list[int], outputs: list[int], options: str = "", **fields: Any) -> Tree:
    """One operator; without options it has none."""
    chosen = {"builtin_options_type": f"{options}Options", "builtin_options": fields} if options else {}
    return {"opcode_index": code, "inputs": inputs, "outputs": outputs, **chosen}


def graph(tensors: list[Tree], inputs: list[int], outputs: list[int], *operators: Tree) -> Tree:
    """One subgraph."""
    return {"tensors": tensors, "inputs": inputs, "outputs": outputs, "operators": list(operators)}


def model(codes: list[str], *graphs: Tree, buffers: tuple[Any, ...] = (), **root: Any) -> bytes:
    """The bytes of a model; buffer 0 is the empty one."""
    data = [{}, *({"data": np.asarray(values)} for values in buffers)]
    kinds = [{"builtin_code": code} for code in codes]
    return write({"version": 3, "operator_codes": kinds, "buffers": data, "subgraphs": list(graphs), **root})


def unary(code: str, kind: str, shape: list[int], given: str = "", **fields: Any) -> bytes:
    """One operator on one input."""
    tensors = [tensor("x", given or kind, shape, **fields), tensor("y", kind, shape)]
    return model([code], graph(tensors, [0], [1], op(0, [0], [1], "Cast" if code == "CAST" else "")))


def added() -> bytes:
    tensors = [
        tensor("a", "FLOAT32", [2, 3]),
        tensor("b", "FLOAT32", [2, 3]),
        tensor("sum", "FLOAT32", [2, 3]),
    ]
    return model(["ADD"], graph(tensors, [0, 1], [2], op(0, [0, 1], [2], "Add")))


def chain() -> bytes:
    """A constant, an input, something in between, and an output."""
    tensors = [
        tensor("x", "FLOAT32", [1, 4]),
        tensor("c", "FLOAT32", [1, 4], buffer=1),
        tensor("between", "FLOAT32", [1, 4]),
        tensor("y", "FLOAT32", [1, 4]),
    ]
    steps = op(0, [0, 1], [2], "Add"), op(1, [2, 2], [3], "Mul")
    constant = np.array([[1, 2, 3, 4]], np.float32)
    return model(["ADD", "MUL"], graph(tensors, [0], [3], *steps), buffers=(constant,))


def ranged(signed: bool = False) -> bytes:
    """An output whose size is known only after the run; `signed` with a signature."""
    tensors = [tensor(name, "INT32", []) for name in ("start", "limit", "delta")]
    tensors.append(tensor("row", "INT32", [0], shape_signature=[-1]))
    names = {place: {"name": row["name"], "tensor_index": place} for place, row in enumerate(tensors)}
    signature = {"signature_key": "run", "inputs": [names[0], names[1], names[2]], "outputs": [names[3]]}
    rows = [{**signature, "subgraph_index": 0}]
    signatures: dict[str, Any] = {"signature_defs": rows} if signed else {}
    return model(["RANGE"], graph(tensors, [0, 1, 2], [3], op(0, [0, 1, 2], [3], "Range")), **signatures)


def moving() -> bytes:
    """A dynamic tensor first, and behind it an output of fixed size: its memory moves as the model runs."""
    tensors = [
        tensor("n", "INT32", []),
        tensor("zero", "INT32", [], buffer=1),
        tensor("one", "INT32", [], buffer=2),
        tensor("row", "INT32", [0], shape_signature=[-1]),
        tensor("x", "INT32", [4]),
        tensor("sum", "INT32", [4]),
        tensor("top", "INT32", []),
        tensor("axis", "INT32", [1], buffer=3),
    ]
    steps = (
        op(0, [1, 0, 2], [3], "Range"),
        op(1, [3, 7], [6], "Reducer", keep_dims=False),
        op(2, [4, 6], [5], "Add"),
    )
    constants = np.int32(0), np.int32(1), np.array([0], np.int32)
    return model(["RANGE", "REDUCE_MAX", "ADD"], graph(tensors, [0, 4], [5], *steps), buffers=constants)


def reshaped(shape: list[int]) -> bytes:
    """RESHAPE to what an input says: it has memory after an allocation, and another shape after each run."""
    tensors = [tensor("x", "FLOAT32", [2, 3]), tensor("shape", "INT32", [2]), tensor("y", "FLOAT32", shape)]
    return model(["RESHAPE"], graph(tensors, [0, 1], [2], op(0, [0, 1], [2])))


def texts() -> bytes:
    """Two of four strings."""
    tensors = [
        tensor("words", "STRING", [4]),
        tensor("which", "INT32", [2], buffer=1),
        tensor("chosen", "STRING", [2]),
    ]
    step = op(0, [0, 1], [2], "Gather")
    return model(["GATHER"], graph(tensors, [0], [2], step), buffers=(np.array([2, 0], np.int32),))


def text() -> bytes:
    """One of four strings, and a string that is passed on."""
    tensors = [
        tensor("words", "STRING", [4]),
        tensor("which", "INT32", []),
        tensor("chosen", "STRING", []),
        tensor("alone", "STRING", []),
    ]
    return model(["GATHER"], graph(tensors, [0, 1, 3], [2, 3], op(0, [0, 1], [2], "Gather")))


def passing() -> bytes:
    """An input that is also an output."""
    tensors = [tensor("x", "FLOAT32", [3]), tensor("y", "FLOAT32", [3])]
    return model(["RELU"], graph(tensors, [0], [0, 1], op(0, [0], [1])))


def signed() -> bytes:
    """Two subgraphs, each with a signature."""
    first = graph(
        [
            tensor("x", "FLOAT32", [2], shape_signature=[-1]),
            tensor("y", "FLOAT32", [2], shape_signature=[-1]),
        ],
        [0],
        [1],
        op(0, [0], [1]),
    )
    second = graph(
        [tensor("a", "FLOAT32", [2]), tensor("b", "FLOAT32", [2]), tensor("c", "FLOAT32", [2])],
        [0, 1],
        [2],
        op(1, [0, 1], [2], "Add"),
    )
    signatures = [
        {
            "signature_key": "clip",
            "inputs": [{"name": "given", "tensor_index": 0}],
            "outputs": [{"name": "clipped", "tensor_index": 1}],
            "subgraph_index": 0,
        },
        {
            "signature_key": "sum",
            "inputs": [{"name": "left", "tensor_index": 0}, {"name": "right", "tensor_index": 1}],
            "outputs": [{"name": "both", "tensor_index": 2}],
            "subgraph_index": 1,
        },
    ]
    return model(["RELU", "ADD"], first, second, signature_defs=signatures)


def remembering() -> bytes:
    """An output that depends on all inputs so far: a variable holds the state."""
    tensors = [
        tensor("x", "FLOAT32", [1, 2]),
        tensor("weights", "FLOAT32", [2, 2], buffer=1),
        tensor("again", "FLOAT32", [2, 2], buffer=1),
        tensor("bias", "FLOAT32", [2], buffer=2),
        tensor("state", "FLOAT32", [1, 2], is_variable=True),
        tensor("y", "FLOAT32", [1, 2]),
    ]
    step = op(0, [0, 1, 2, 3, 4], [5], "RNN")
    constants = np.eye(2, dtype=np.float32), np.zeros(2, np.float32)
    return model(["RNN"], graph(tensors, [0], [5], step), buffers=constants)


def constant_input() -> bytes:
    """An input that has a value in the file."""
    tensors = [tensor("x", "FLOAT32", [3], buffer=1), tensor("y", "FLOAT32", [3])]
    value = np.array([1, -2, 3], np.float32)
    return model(["RELU"], graph(tensors, [0], [1], op(0, [0], [1])), buffers=(value,))


MODELS = {
    "relu": lambda: unary("RELU", "FLOAT32", [1, 4]),
    "image": lambda: unary("RELU", "FLOAT32", [1, 8, 6, 3]),
    "open": lambda: unary("RELU", "FLOAT32", [1, 4], shape_signature=[-1, 4]),
    "scalar": lambda: unary("RELU", "FLOAT32", []),
    "nothing": lambda: unary("RELU", "FLOAT32", [0, 3]),
    "whole": lambda: unary("CAST", "FLOAT32", [3], given="INT64"),
    "half": lambda: unary("CAST", "FLOAT32", [3], given="FLOAT16"),
    "truth": lambda: unary("LOGICAL_NOT", "BOOL", [3]),
    "added": added,
    "chain": chain,
    "ranged": ranged,
    "moving": moving,
    "reshaped": lambda: reshaped([2, 3]),
    "reshaped_open": lambda: reshaped([1]),
    "texts": texts,
    "text": text,
    "passing": passing,
    "signed": signed,
    "remembering": remembering,
    "constant_input": constant_input,
}


def write_models(folder: Path) -> None:
    """Write all of them, as NAME.tflite."""
    for name, build in MODELS.items():
        (folder / f"{name}.tflite").write_bytes(build())
