"""Cuts operators out of models, feeds each the values of the full run, and compares what it computes.

    python cut_probe.py OPS PREFIXES SEED MODEL...

At most so many operators and prefixes of each model; lines of JSON. It runs in a process of its own, with
LiteRT's builtin kernels and no delegate.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

import outlive
from outlive.surgery import Cut, CutRequest, cut_model

RESOLVER = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
NOT_THE_SAME_TWICE = {"RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL", "MULTINOMIAL"}


def interpreter_of(data: bytes) -> Interpreter:
    return Interpreter(
        model_content=data,
        num_threads=1,
        experimental_op_resolver_type=RESOLVER,
        experimental_preserve_all_tensors=True,
    )


def sample(entry: dict[str, Any], source: np.random.RandomState) -> Any:
    """A value for an input: quantized and real numbers at random, counts and indices 0 or 1."""
    shape, kind = tuple(entry["shape"]), np.dtype(entry["dtype"])
    if kind.kind in "SOU":
        return np.full(shape, b"a few words", object)
    if kind.kind in "fc":
        return source.uniform(-1, 1, shape).astype(kind)
    if kind.itemsize == 1 and kind.kind in "iu":
        return source.randint(np.iinfo(kind).min, np.iinfo(kind).max + 1, shape).astype(kind)
    return source.randint(0, 2, shape).astype(kind)


class WholeRun:
    """One run of the whole model, every tensor of which can be asked for."""

    def __init__(self, data: bytes, seed: int) -> None:
        self._interpreter = interpreter_of(data)
        self._interpreter.allocate_tensors()
        source = np.random.RandomState(seed)
        self._values: dict[int, Any] = {}
        for entry in self._interpreter.get_input_details():
            self._values[entry["index"]] = sample(entry, source)
            self._interpreter.set_tensor(entry["index"], self._values[entry["index"]])
        self._interpreter.invoke()

    def value(self, index: int) -> Any:
        """The tensor's value; None where it has none, as one of an operator that was not run."""
        if index not in self._values:
            try:
                self._values[index] = self._interpreter.get_tensor(index)
            except ValueError:
                self._values[index] = None
        return self._values[index]


def run_part(part: Cut, whole: WholeRun) -> list[Any]:
    """The outputs of the part when its inputs have the values of the full run."""
    interpreter = interpreter_of(part.model)
    for tensor in part.inputs:
        value = whole.value(tensor.original)
        if value is None:
            raise LookupError(f"tensor {tensor.original} has no value in the full run")
        if value.shape != tensor.shape:
            interpreter.resize_tensor_input(tensor.index, value.shape)
    interpreter.allocate_tensors()
    for tensor in part.inputs:
        interpreter.set_tensor(tensor.index, whole.value(tensor.original))
    interpreter.invoke()
    return [interpreter.get_tensor(tensor.index).copy() for tensor in part.outputs]


def difference(truth: Any, seen: Any) -> str:
    """What differs between two values, in words; empty if all bits are the same."""
    if truth is None:
        return "it has no value in the full run"
    if truth.shape != seen.shape or truth.dtype != seen.dtype:
        return f"{truth.dtype}{list(truth.shape)} became {seen.dtype}{list(seen.shape)}"
    if truth.dtype == object:
        return "" if truth.tolist() == seen.tolist() else "strings differ"
    if truth.tobytes() == seen.tobytes():
        return ""
    count = int(np.sum(truth != seen))
    return f"{count} of {truth.size} elements differ: {truth.reshape(-1)[:4]} became {seen.reshape(-1)[:4]}"


def rows_written(model: outlive.Model, whole: WholeRun) -> dict[int, int]:
    """Detections found, by output: TFLite_Detection_PostProcess leaves the rows behind them as they were."""
    found = {}
    for operator in model.subgraphs[0].operators:
        if operator.name == "TFLite_Detection_PostProcess":
            count = int(whole.value(operator.outputs[3])[0])
            found.update(dict.fromkeys(operator.outputs[:3], count))
    return found


def first_rows(value: Any, count: int | None) -> Any:
    return value if value is None or count is None else value[:, :count]


def compare(model: outlive.Model, whole: WholeRun, request: CutRequest) -> dict[str, Any]:
    """What became of one cut: `outputs` compared and `problems`, or `skipped` in words."""
    part = cut_model(model, request)
    operators = model.subgraphs[0].operators
    if any(operators[index].type in NOT_THE_SAME_TWICE for index in part.ops):
        return {"skipped": "not the same twice"}
    if outlive.read(part.model).flaws:
        return {"problems": ["the part has flaws"]}
    try:
        seen = run_part(part, whole)
    except LookupError as error:
        return {"skipped": str(error)}
    except (RuntimeError, ValueError) as error:
        return {"problems": [str(error)]}
    problems, rows = [], rows_written(model, whole)
    for tensor, value in zip(part.outputs, seen, strict=True):
        count = rows.get(tensor.original)
        told = difference(first_rows(whole.value(tensor.original), count), first_rows(value, count))
        problems += [f"tensor {tensor.original}: {told}"] if told else []
    return {"outputs": len(seen), "problems": problems}


def say(**facts: Any) -> None:
    print(json.dumps(facts), flush=True)


def probe(path: Path, ops: int, prefixes: int, seed: int) -> None:
    """Cut one model many times; what is under way is said before, so that a death names it."""
    say(model=path.name, started="the full run")
    model = outlive.read(path)
    try:
        whole = WholeRun(path.read_bytes(), seed)
    except RuntimeError as error:
        say(model=path.name, whole_refused=str(error))
        return
    count, chance = len(model.subgraphs[0].operators), random.Random(seed)
    requests = [CutRequest(ops=index) for index in chance.sample(range(count), min(ops, count))]
    requests += [CutRequest(until=index) for index in chance.sample(range(count), min(prefixes, count))]
    for request in requests:
        say(model=path.name, started=str(request))
        facts = compare(model, whole, request)
        last = request.until if isinstance(request.until, int) else request.ops
        name = model.subgraphs[0].operators[last].name  # type: ignore[index]
        say(model=path.name, ops=request.ops, until=request.until, type=name, **facts)


if __name__ == "__main__":
    for word in sys.argv[4:]:
        probe(Path(word), *map(int, sys.argv[1:4]))
