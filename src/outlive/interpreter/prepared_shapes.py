"""Shapes from the runtime itself: a worker loads, resizes and allocates a model, and never invokes it."""

import contextlib
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from outlive.interpreter.interpreter import WorkerInterpreter
from outlive.interpreter.interpreter_options import OpResolverType
from outlive.interpreter.judge import Judge
from outlive.meter import read_machine
from outlive.process.flight import Flight, Unjudged
from outlive.units import format_bytes

Shape = tuple[int, ...]
Shapes = dict[tuple[int, int], Shape]

# To allocate takes milliseconds; whatever takes this long is not going to end.
_SECONDS = 60.0
_MOST_WORDS = 300


def preparer(
    source: str | os.PathLike[str] | bytes, threads: int | None = None
) -> Callable[[Mapping[int, Shape]], tuple[Shapes, str]]:
    """A function that prepares this model with other input shapes, and gives the shapes of all tensors.

    The second value says in words why that did not work; it is empty if it did. The plain kernels are used:
    a delegate would hide the tensors it takes.
    """

    def prepare(resized: Mapping[int, Shape]) -> tuple[Shapes, str]:
        try:
            return _prepare(source, threads, resized), ""
        except Unjudged as error:
            return {}, _words(error.fact)
        except (ValueError, RuntimeError, MemoryError, OSError) as error:
            return {}, " ".join(str(error).split())[:_MOST_WORDS] or type(error).__name__

    return prepare


def _prepare(source: Any, threads: int | None, resized: Mapping[int, Shape]) -> Shapes:
    named = {"model_content" if isinstance(source, bytes) else "model_path": source}
    interpreter = WorkerInterpreter(
        **named,
        num_threads=threads,
        experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        seconds=_SECONDS,
        _judge=Judge(),
    )
    with contextlib.closing(interpreter):
        _refuse_giants(interpreter.get_input_details(), resized)
        for index, shape in resized.items():
            interpreter.resize_tensor_input(index, list(shape))
        return {
            (subgraph, index): tuple(int(size) for size in shape)
            for subgraph, shapes in enumerate(_prepared_shapes(interpreter))
            for index, shape in enumerate(shapes)
            if shape is not None
        }


def _prepared_shapes(interpreter: WorkerInterpreter) -> list[list[list[int] | None]]:
    """The shapes after an allocation in the worker alone: sharing an input of gigabytes takes seconds."""
    interpreter._ask({"do": "allocate", "memory": True})
    return interpreter.tensor_shapes()


def _refuse_giants(details: list[dict[str, Any]], resized: Mapping[int, Shape]) -> None:
    """Inputs live in memory that the worker shares with us: those that would fill it are not tried."""
    total = 0
    for row in details:
        shape = resized.get(int(row["index"]), tuple(int(size) for size in row["shape"]))
        total += int(np.prod(shape, dtype=object)) * max(1, np.dtype(row["dtype"]).itemsize)
    available = read_machine().available_bytes
    if available is not None and total > available // 4:
        raise MemoryError(
            f"its inputs alone have {format_bytes(total)}, more than can be prepared in this machine's memory"
        )


def _words(fact: Any) -> str:
    """What the runtime said, or how it ended, as it was seen."""
    if not isinstance(fact, Flight):
        return " ".join(str(fact).split())[:_MOST_WORDS]
    if fact.died:
        return f"it died in stage {fact.stage} ({fact.ended_by or fact.signal or 'no signal'})"
    said = " ".join(fact.error_text.split())[:_MOST_WORDS]
    return said or f"{fact.error_type} without a message, as when memory is not available"
