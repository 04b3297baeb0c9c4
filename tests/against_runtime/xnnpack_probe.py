"""What LiteRT's default delegate takes of each model named on stdin, and where tensors lie, in JSON.

Run as a program of its own: `python xnnpack_probe.py`, a path a line.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from ai_edge_litert.interpreter import Interpreter


def runs(path: str) -> dict[str, Any]:
    """Inputs and outputs of the nodes that stand for the delegate, and where tensors lie."""
    try:
        interpreter = Interpreter(model_path=path)
        interpreter.allocate_tensors()
    except (RuntimeError, ValueError) as error:
        return {"error": str(error)[:200]}
    inner = interpreter._interpreter
    nodes = [index for index in range(inner.NumNodes()) if inner.NodeName(index) == "DELEGATE"]
    borders = [
        [list(map(int, ends(node))) for ends in (inner.NodeInputs, inner.NodeOutputs)] for node in nodes
    ]
    return {"runs": borders, "places": places(inner)}


def places(inner: Any) -> dict[int, int]:
    """Addresses of the tensors that have memory and a rank; a scalar's address is not to be had."""
    found = {}
    for index in range(inner.NumTensors(0)):
        try:
            inner.TensorSize(
                index, 0
            )  # raises where there is no shape, which tensor() would follow to nowhere
            if inner.TensorType(index, 0) is np.object_:
                continue
            view = inner.tensor(inner, index, 0)
        except (RuntimeError, ValueError):
            continue
        if view.ndim and view.nbytes:
            found[index] = view.__array_interface__["data"][0]
    return found


def main() -> None:
    """Answer until stdin ends."""
    for line in sys.stdin:
        print(json.dumps(runs(line.rstrip("\n"))), flush=True)


if __name__ == "__main__":
    main()
