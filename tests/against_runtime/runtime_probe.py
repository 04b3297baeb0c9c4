"""Prints what LiteRT makes of one model, as two lines of JSON: its schema module's view, its interpreter's.

Run in a process of its own, `python runtime_probe.py MODEL`, for the model may kill it. The interpreter is
asked before `allocate_tensors` and without delegates, so that it still describes the file and not its own
changes to the graph. A view that LiteRT refuses to give is `{"refused": why}`.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def schema_view(path: str) -> dict[str, Any]:
    """The whole file as LiteRT's own schema module unpacks it; constants as size and checksum."""
    from ai_edge_litert import schema_py_generated as schema

    with open(path, "rb") as file:
        data = file.read()
    if not schema.Model.ModelBufferHasIdentifier(data, 0):
        return {"refused": "no identifier"}
    enums = {
        name: {number: word for word, number in vars(kind).items() if isinstance(number, int)}
        for name, kind in vars(schema).items()
        if isinstance(kind, type) and not hasattr(kind, "Init") and not name.endswith("T")
    }
    model = plain(schema.ModelT.InitFromPackedBuf(data, 0))
    for buffer in model["buffers"]:
        if buffer["data"] is None and buffer["offset"] > 1:
            # Behind the FlatBuffer, so the schema module shows only where it is.
            buffer["data"] = digest(data[buffer["offset"] :][: buffer["size"]])
    return {"model": model, "enums": enums}


def plain(value: Any) -> Any:
    """An unpacked object as JSON; options keep the name of their table."""
    if type(value).__module__.endswith("schema_py_generated"):
        table = type(value).__name__.removesuffix("T")
        if table == "Uint8Vector":  # the one vector of bytes that holds numbers
            return {"table": table, "values": value.values.tolist()}
        return {"table": table} | {name: plain(item) for name, item in vars(value).items()}
    if isinstance(value, np.ndarray) and value.dtype == np.uint8:
        return digest(value)
    if isinstance(value, (list, np.ndarray)):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value.item() if isinstance(value, np.generic) else value


def digest(data: Any) -> dict[str, int]:
    """Bytes as something short that differs when they do."""
    return {"size": len(data), "crc": zlib.crc32(data)}


def runtime_view(path: str) -> dict[str, Any]:
    """What the interpreter reports of a model it has loaded and not yet prepared."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    resolver = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    try:
        interpreter = Interpreter(path, experimental_op_resolver_type=resolver)
    except (ValueError, RuntimeError) as error:
        return {"refused": str(error)}
    native = interpreter._interpreter
    return {
        "inputs": [int(index) for index in native.InputIndices()],
        "outputs": [int(index) for index in native.OutputIndices()],
        "tensors": [
            [tensor(interpreter, index, graph) for index in range(native.NumTensors(graph))]
            for graph in range(interpreter.num_subgraphs())
        ],
        "operators": [operator(details) for details in interpreter._get_ops_details()],
        "signatures": interpreter._get_full_signature_list(),
    }


def operator(details: dict[str, Any]) -> dict[str, Any]:
    """One operator of the main subgraph."""
    inputs, outputs = details["inputs"].tolist(), details["outputs"].tolist()
    return {"name": details["op_name"], "inputs": inputs, "outputs": outputs}


def tensor(interpreter: Any, index: int, graph: int) -> dict[str, Any]:
    """The details of one tensor, as JSON."""
    try:
        details = interpreter._get_tensor_details(index, graph)
    except ValueError as error:
        return {"refused": str(error)}
    details["dtype"] = np.dtype(details["dtype"]).name
    details["value"] = (
        value(interpreter, index, graph) if details["dtype"] not in ("object", "bytes") else None
    )
    return {name: listed(item) for name, item in details.items()}


def value(interpreter: Any, index: int, graph: int) -> dict[str, int] | None:
    """The value of a constant; nothing else has one before `allocate_tensors`."""
    try:
        return digest(interpreter.get_tensor(index, graph).tobytes())
    except ValueError:
        return None


def listed(value: Any) -> Any:
    """Arrays as lists, also inside of dictionaries and tuples."""
    if isinstance(value, Mapping):
        return {name: listed(item) for name, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [listed(item) for item in value]
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def main(path: str) -> None:
    """Print the two views; the safe one first."""
    views: tuple[Callable[[str], dict[str, Any]], ...] = (schema_view, runtime_view)
    for view in views:
        print(json.dumps(view(path)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
