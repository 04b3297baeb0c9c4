"""Tells where LiteRT puts each tensor: one question per line in, one answer per line out, in JSON.

A question has `path` or `content` (base64), `threads`, `preserve`, `reference` and `batch` (a new size for
the first side of each input). In a process of its own, for LiteRT is loaded into it and a model may kill it.
"""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType


def open_model(question: dict[str, Any]) -> Any:
    """An interpreter without delegates, its tensors allocated."""
    reference = question["reference"]
    kind = OpResolverType.BUILTIN_REF if reference else OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    content = question.get("content")
    source = {"model_content": base64.b64decode(content)} if content else {"model_path": question["path"]}
    interpreter = Interpreter(
        **source,
        num_threads=question["threads"],
        experimental_op_resolver_type=kind,
        experimental_preserve_all_tensors=question["preserve"],
    )
    if question["batch"]:
        for row in interpreter.get_input_details():
            shape = [question["batch"], *row["shape"][1:]] if len(row["shape"]) else []
            interpreter.resize_tensor_input(row["index"], shape)
    interpreter.allocate_tensors()
    return interpreter


def places(interpreter: Any, subgraph: int) -> dict[int, tuple[int, int]]:
    """Address and bytes of each tensor that has memory and a rank; a scalar's address is not to be had."""
    found = {}
    for index in range(interpreter._interpreter.NumTensors(subgraph)):
        try:
            # Raises for a temporary without a shape, which tensor() would follow to nowhere.
            interpreter._interpreter.TensorSize(index, subgraph)
            if interpreter._interpreter.TensorType(index, subgraph) is np.object_:
                continue
            view = interpreter._interpreter.tensor(interpreter._interpreter, index, subgraph)
        except (ValueError, RuntimeError):
            continue
        if view.ndim and view.nbytes:
            found[index] = (view.__array_interface__["data"][0], view.nbytes)
        del view
    return found


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """Where the tensors are, subgraph by subgraph; or why there is no answer."""
    try:
        interpreter = open_model(question)
    except (ValueError, RuntimeError) as error:
        return {"error": str(error)}
    count = interpreter._interpreter.NumSubgraphs()
    graphs = range(count)
    return {
        "places": {graph: places(interpreter, graph) for graph in graphs},
        "tensors": [interpreter._interpreter.NumTensors(graph) for graph in graphs],
    }


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
