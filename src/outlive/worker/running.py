"""A whole run of a model as one flight, watched from outside; it comes back even if the model does not."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.errors import InputError, RunError
from outlive.meter import Sampler
from outlive.worker.affine import affine_of
from outlive.worker.affine import dequantize as dequantize_values
from outlive.worker.delegation import DelegationSeen, see_delegation
from outlive.worker.feeding import make_feeds
from outlive.worker.flight import Flight, OutputSeen
from outlive.worker.interpreter import Interpreter
from outlive.worker.options import OpResolverType


class _Watch:
    """Times stages and samples memory from outside the worker."""

    def __init__(self) -> None:
        self.sampler: Sampler | None = None
        self.stages: list[tuple[str, float]] = []

    def begin(self, pid: int) -> None:
        self.sampler = Sampler(pid, forked=True).start()

    def stage(self, name: str, action: Callable[[], Any]) -> Any:
        """Do something as a stage, timed, with a mark when it is done."""
        start = time.perf_counter()
        try:
            return action()
        finally:
            self.stages.append((name, time.perf_counter() - start))
            if self.sampler is not None:
                self.sampler.mark(name)

    def finish(self, flight: Flight) -> Flight:
        """The flight with what was seen from outside."""
        if self.sampler is None:
            return replace(flight, stages=tuple(self.stages))
        timeline = self.sampler.stop()
        peak = max(timeline.peak_bytes, flight.peak_bytes or 0)
        points = timeline.points if len(timeline.points) > len(flight.timeline) else flight.timeline
        return replace(flight, stages=tuple(self.stages), timeline=points, peak_bytes=peak)


def fly(
    inputs: Any,
    repeat: int,
    seed: int,
    *,
    shapes: Mapping[int, Sequence[int]] | None = None,
    quantize: bool = False,
    dequantize: bool = False,
    **arguments: Any,
) -> Flight:
    """Load, allocate, set, invoke `repeat` times, get and free; the record of it all.

    `shapes` are other shapes for inputs, by index, set before tensors are allocated. `quantize` turns floats
    for quantized inputs into their integers, `dequantize` quantized outputs into the floats they stand for.
    """
    watch = _Watch()
    meant = (quantize, dequantize)
    try:
        flight = _fly(watch, inputs, repeat, seed, shapes or {}, meant, arguments)
    except RunError as error:
        if error.flight is None:
            raise
        flight = error.flight
    except InputError as error:
        if error.flight is None or error.flight.stage != "get":
            raise  # what was given is at fault, and not what the model left in its outputs
        flight = error.flight
    finally:
        if watch.sampler is not None:
            watch.sampler.stop()
    return replace(watch.finish(flight), source=_source(arguments))


def _source(arguments: Mapping[str, Any]) -> Any:
    path = arguments.get("model_path")
    return arguments.get("model_content") if path is None else os.fspath(path)


def _fly(
    watch: _Watch,
    inputs: Any,
    repeat: int,
    seed: int,
    shapes: Mapping[int, Sequence[int]],
    meant: tuple[bool, bool],
    arguments: dict[str, Any],
) -> Flight:
    start = time.perf_counter()
    interpreter = Interpreter(**arguments, _watch=watch.begin)
    watch.stages.append(("load", time.perf_counter() - start))
    if watch.sampler is not None:
        watch.sampler.mark("load")
    try:
        # Before tensors are allocated: then XNNPACK comes as well, and takes what others have left.
        named = [delegate.library for delegate in arguments.get("experimental_delegates") or ()]
        delegation = _delegation(interpreter, named) if named else None
        for index, shape in shapes.items():
            interpreter.resize_tensor_input(index, list(shape))
        watch.stage("allocate", interpreter.allocate_tensors)
        feeds = make_feeds(interpreter.get_input_details(), inputs, seed, quantized=meant[0])
        if watch.sampler is not None:
            watch.sampler.count_in(interpreter.overlaid_bytes)
        watch.stage("set", lambda: _set_all(interpreter, feeds))
        for number in range(repeat):
            watch.stage("invoke" if number == 0 else f"invoke {number + 1}", interpreter.invoke)
        rows = interpreter.get_output_details()
        values = watch.stage("get", lambda: [interpreter.get_tensor(row["index"]) for row in rows])
        pid, story = interpreter.pid, interpreter.story()
        if delegation is None and _asks_xnnpack(arguments):
            delegation = _delegation(interpreter, ["XNNPACK"])
        watch.stage("free", interpreter.close)
    except BaseException:
        interpreter.kill()
        raise
    if meant[1]:
        values = [dequantize_values(affine_of(row), value) for row, value in zip(rows, values, strict=True)]
    outputs = tuple(_describe(row, value) for row, value in zip(rows, values, strict=True))
    by_name = {str(row["name"]): value for row, value in zip(rows, values, strict=True)}
    return replace(story, outputs=outputs, values=by_name, pid=pid, delegation=delegation, stage="done")


def _asks_xnnpack(arguments: Mapping[str, Any]) -> bool:
    """True if the runtime brings XNNPACK unasked: with its default resolvers."""
    resolver = arguments.get("experimental_op_resolver_type", OpResolverType.AUTO)
    return resolver in (OpResolverType.AUTO, OpResolverType.BUILTIN)


def _delegation(interpreter: Interpreter, asked: list[str]) -> DelegationSeen | None:
    """What delegates took; None if the runtime does not say."""
    try:
        return see_delegation(asked, interpreter.nodes())
    except RunError:
        raise
    except (AttributeError, KeyError, OverflowError, RuntimeError, TypeError, ValueError):
        return None  # an older runtime, names that are no text: the run went well all the same


def _set_all(interpreter: Interpreter, feeds: dict[int, NDArray[Any]]) -> None:
    """Each is let go of once the worker has it: large inputs are held twice otherwise."""
    for index in list(feeds):
        interpreter.set_tensor(index, feeds.pop(index))


def _describe(row: dict[str, Any], value: NDArray[Any]) -> OutputSeen:
    numeric = value.size > 0 and value.dtype.kind in "biuf"
    data = np.ascontiguousarray(value)
    text = data.dtype.kind == "O"
    digest = hashlib.sha256(repr(data.tolist()).encode() if text else data.reshape(-1).view(np.uint8).data)
    return OutputSeen(
        name=str(row["name"]),
        index=int(row["index"]),
        shape=tuple(value.shape),
        dtype=value.dtype.name,
        minimum=float(value.min()) if numeric else None,
        maximum=float(value.max()) if numeric else None,
        sha256=digest.hexdigest(),
    )
