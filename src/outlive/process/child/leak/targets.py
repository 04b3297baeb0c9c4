"""What is repeated in a leak test: a function, a function of a script, or a cycle of a model."""

from __future__ import annotations

import asyncio
import collections
import importlib.util
import inspect
import os
import sys
from typing import Any, Callable

# Indices, lengths and tokens: small numbers are the only ones that are nearly always in range.
_SMALL = 2


class CannotRepeat(Exception):
    """What was asked for cannot be repeated; the text says why."""


def silence_output(bounds: dict[str, Any]) -> None:
    """Show nothing of what the rounds print, if so told: a thousand times the same is no news.

    Standard error stays: the last words of a process that dies are there.
    """
    if bounds.get("quiet"):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)


def make_action(target: Any) -> Callable[[], None]:
    """A function without arguments that does one round."""
    if callable(target):
        return _forgetting(target)
    if "script" in target:
        return _forgetting(load_function(target["script"], target["function"]))
    cycles: dict[str, Callable[[Any], Callable[[], None]]] = {
        "load": _Loading,
        "invoke": _Invoking,
        "resize": _Resizing,
    }
    return cycles[target["cycle"]](target)


def _forgetting(function: Callable[[], Any]) -> Callable[[], None]:
    def action() -> None:
        # What it returns is dropped here: a function that keeps it all the same is what we look for.
        result = function()
        if inspect.isgenerator(result):
            collections.deque(result, maxlen=0)  # its body runs only while items are asked for
        elif inspect.iscoroutine(result):
            asyncio.run(result)

    return action


def load_function(path: str, name: str) -> Callable[[], Any]:
    """A function of a script, which is imported like a module: what is under `__main__` does not run."""
    path = os.path.abspath(path)
    sys.path.insert(0, os.path.dirname(path))
    stem = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(stem, path)
    if spec is None or spec.loader is None:
        raise CannotRepeat("%s is no Python file" % path)
    module = sys.modules[stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = getattr(module, name, None)
    if not callable(found):
        known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise CannotRepeat("%s has no function %s; it has %s" % (path, name, ", ".join(known[:20]) or "none"))
    return found  # type: ignore[no-any-return]


class _Model:
    """A model and how it is opened."""

    def __init__(self, target: dict[str, Any]) -> None:
        from .. import runtimes

        self._arguments = dict(target["model"])
        self._module = runtimes.interpreter_module(target.get("runtime", "litert"))
        resolver = self._arguments.pop("resolver", None)
        if resolver is not None:
            self._arguments["experimental_op_resolver_type"] = self._module.OpResolverType[resolver]
        self._shapes = {int(index): shape for index, shape in target.get("shapes", {}).items()}

    def _open(self) -> Any:
        interpreter = self._module.Interpreter(**self._arguments)
        for index, shape in self._shapes.items():
            interpreter.resize_tensor_input(index, shape)
        interpreter.allocate_tensors()
        return interpreter


class _Loading(_Model):
    """Open, allocate, run once, free: what a program does that makes an interpreter for each request."""

    def __call__(self) -> None:
        interpreter = self._open()
        _feed(interpreter)
        interpreter.invoke()


class _Invoking(_Model):
    """Set all inputs, invoke, get all outputs, on one interpreter."""

    def __init__(self, target: dict[str, Any]) -> None:
        super().__init__(target)
        self._interpreter = self._open()

    def __call__(self) -> None:
        _feed(self._interpreter)
        self._interpreter.invoke()
        for row in self._interpreter.get_output_details():
            self._interpreter.get_tensor(row["index"])


class _Resizing(_Model):
    """Make the inputs larger and small again, with an allocation after each, on one interpreter."""

    def __init__(self, target: dict[str, Any]) -> None:
        super().__init__(target)
        self._interpreter = self._open()
        rows = self._interpreter.get_input_details()
        small = {row["index"]: [int(size) for size in row["shape"]] for row in rows}
        self._sizes = self._choose(small, rows)

    def _choose(self, small: dict[int, list[int]], rows: Any) -> list[dict[int, list[int]]]:
        """The shapes to change between: those of the file, and the first larger ones that can be had."""
        words = "its inputs have no dimensions"
        for larger in _larger(small, rows):
            try:
                self._resize(larger)
                self._interpreter.invoke()
            except (RuntimeError, ValueError) as error:
                words = " ".join(str(error).split())[:200] or "the runtime refused without a message"
                # An interpreter that was refused a size need not be sound any more.
                self._interpreter = self._open()
                continue
            return [small, larger]
        raise CannotRepeat("no other input size is accepted: %s" % words)

    def _resize(self, shapes: dict[int, list[int]]) -> None:
        for index, shape in shapes.items():
            self._interpreter.resize_tensor_input(index, shape)
        self._interpreter.allocate_tensors()
        _feed(self._interpreter)

    def __call__(self) -> None:
        for shapes in self._sizes:
            self._resize(shapes)
            self._interpreter.invoke()


def _larger(small: dict[int, list[int]], rows: Any) -> Any:
    """Larger shapes, the likeliest to be accepted first: dimensions left open by the file, then the batch."""
    signatures = {row["index"]: [int(size) for size in row.get("shape_signature", ())] for row in rows}
    open_ones = {
        index: [
            size * 2 if place < len(signatures[index]) and signatures[index][place] == -1 else size
            for place, size in enumerate(shape)
        ]
        for index, shape in small.items()
    }
    batches = {index: [shape[0] * 2, *shape[1:]] if shape else shape for index, shape in small.items()}
    for candidate in (open_ones, batches):
        if candidate != small:
            yield candidate


def _feed(interpreter: Any) -> None:
    """Values that nearly every model takes: small integers, floats between 0 and 1, a short text."""
    import numpy as np

    for row in interpreter.get_input_details():
        dtype, shape = np.dtype(row["dtype"]), [int(size) for size in row["shape"]]
        if dtype.kind in "OSU":
            value = np.full(shape, b"outlive", dtype=object)
        elif dtype.kind in "fc":
            value = np.full(shape, 0.5, dtype=dtype)
        else:
            value = (np.arange(int(np.prod(shape))) % _SMALL).reshape(shape).astype(dtype)
        interpreter.set_tensor(row["index"], value)
