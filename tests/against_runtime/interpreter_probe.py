"""Runs models through an Interpreter and writes down all that it says and gives, as one pickle per model.

`python interpreter_probe.py MODULE RESOLVER FOLDER MODEL...`, where MODULE is one that has an `Interpreter`:
LiteRT's own, or outlive. In a process of its own, for LiteRT is loaded into it.
"""

from __future__ import annotations

import importlib
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np

FILLS = ("zeros", "ones", "random")


def value_for(row: dict[str, Any], fill: str) -> Any:
    """An input of the right type and shape, the same in every process."""
    dtype, shape = np.dtype(row["dtype"]), tuple(row["shape"])
    if dtype.kind in "OSU":
        return np.full(
            shape, {"zeros": b"", "ones": b"1", "random": b"the quick brown fox"}[fill], dtype=object
        )
    if fill != "random":
        return np.full(shape, int(fill == "ones"), dtype)
    rng = np.random.default_rng((7, int(row["index"])))
    if dtype.kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    if dtype.kind in "iu" and len(row["quantization_parameters"]["scales"]):
        limits = np.iinfo(dtype)
        return rng.integers(max(limits.min, -128), min(limits.max, 255) + 1, shape).astype(dtype)
    return rng.integers(0, 2, shape).astype(dtype)


def tell(interpreter: Any) -> dict[str, Any]:
    """What the interpreter says about the model."""
    return {
        "inputs": interpreter.get_input_details(),
        "outputs": interpreter.get_output_details(),
        "tensors": [interpreter.get_tensor_details(n) for n in range(interpreter.num_subgraphs())],
        "subgraphs": interpreter.num_subgraphs(),
        "signatures": interpreter.get_signature_list(),
        "ops": interpreter._get_ops_details(),
    }


def invoke(interpreter: Any) -> dict[str, Any]:
    """The outputs for each way to fill the inputs, one run after the other on the same interpreter."""
    interpreter.allocate_tensors()
    seen: dict[str, Any] = {"allocated": tell(interpreter)}
    for fill in FILLS:
        for row in interpreter.get_input_details():
            interpreter.set_tensor(row["index"], value_for(row, fill))
        interpreter.invoke()
        rows = interpreter.get_output_details()
        seen[fill] = [interpreter.get_tensor(row["index"]) for row in rows]
    seen["invoked"] = tell(interpreter)
    return seen


def call(interpreter: Any) -> dict[str, Any]:
    """The same through each signature."""
    seen: dict[str, Any] = {}
    for key in interpreter.get_signature_list():
        runner = interpreter.get_signature_runner(key)
        seen[key, "told"] = [runner.get_input_details(), runner.get_output_details()]
        for fill in FILLS:
            inputs = {name: value_for(row, fill) for name, row in runner.get_input_details().items()}
            results = runner(**inputs)
            seen[key, fill] = [results[name] for name in sorted(results)]
    return seen


def examine(module: Any, path: str, resolver: str) -> dict[str, Any]:
    """All of it; an exception is a result too."""
    seen: dict[str, Any] = {}
    for name, action in (("opened", tell), ("invoke", invoke), ("call", call)):
        try:
            kind = module.OpResolverType[resolver]
            seen[name] = action(module.Interpreter(model_path=path, experimental_op_resolver_type=kind))
        except Exception as error:
            base = next(t for t in (ValueError, RuntimeError, Exception) if isinstance(error, t))
            seen[name] = {"raised": (base.__name__, str(error).split("\nerror[")[0])}
    return seen


def main() -> None:
    """Examine all the models named on the command line."""
    module, (resolver, folder) = importlib.import_module(sys.argv[1]), sys.argv[2:4]
    for path in sys.argv[4:]:
        seen = examine(module, path, resolver)
        (Path(folder) / (Path(path).name + ".pickle")).write_bytes(pickle.dumps(seen))


if __name__ == "__main__":
    main()
