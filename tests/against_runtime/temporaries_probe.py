"""Prints the tensors LiteRT has after `allocate_tensors`, kernels' temporaries included, as lines of JSON.

Run in a process of its own, `python temporaries_probe.py MODEL...`, each model with each of CASES; LiteRT's
own kernels only, no delegate. A tensor is `[bytes, address]`; null where it has no shape. The address is 0
where there is none to show: no memory (NO_MEMORY bytes), or a scalar, which comes back as a copy (SCALAR).
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from ai_edge_litert import interpreter as litert

Resolver = litert.OpResolverType
RESOLVERS = {"optimised": Resolver.BUILTIN_WITHOUT_DEFAULT_DELEGATES, "reference": Resolver.BUILTIN_REF}
NO_MEMORY, SCALAR = -1, -2
CASES = (("optimised", 1), ("optimised", None), ("optimised", 2), ("optimised", 4), ("reference", 1))


def view(path: str, kernels: str, threads: int | None) -> dict[str, Any]:
    """What the runtime says of one model."""
    case = {"model": path, "kernels": kernels, "threads": threads}
    resolver = RESOLVERS[kernels]
    try:
        runtime = litert.Interpreter(path, experimental_op_resolver_type=resolver, num_threads=threads)
        runtime.allocate_tensors()
    except (ValueError, RuntimeError) as error:
        return {**case, "refused": str(error)}
    count = runtime._interpreter.NumTensors(0)
    shapes = {row["index"]: row["shape"].tolist() for row in runtime.get_tensor_details()}
    return {**case, "tensors": [one(runtime, index) for index in range(count)], "shapes": shapes}


def one(runtime: Any, index: int) -> list[int] | None:
    """Shape and address of a tensor; asking one without a shape for its memory would be fatal."""
    try:
        shape = runtime._interpreter.TensorSize(index, 0)
    except ValueError:
        return None
    if shape.size and not shape.all():
        return [0, 0]
    if runtime._interpreter.TensorType(index, 0) is np.object_:  # a resource's memory is fatal as well
        return [NO_MEMORY, 0]
    try:
        array = runtime.tensor(index)()
    except ValueError:  # no memory before the first run
        return [NO_MEMORY, 0]
    return [array.nbytes, array.__array_interface__["data"][0]] if shape.size else [SCALAR, 0]


if __name__ == "__main__":
    for model in sys.argv[1:]:
        for chosen in CASES:
            print(json.dumps(view(model, *chosen)), flush=True)
