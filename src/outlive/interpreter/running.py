"""A whole run of a model as one flight, watched from outside; it comes back even if the model does not."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from numpy.typing import NDArray

from outlive.errors import InputError, RunError
from outlive.interpreter.affine import affine_of
from outlive.interpreter.affine import dequantize as dequantize_values
from outlive.interpreter.feeding import given_shapes, make_feeds
from outlive.interpreter.interpreter import WorkerInterpreter
from outlive.interpreter.slots import wrong_shape
from outlive.interpreter.statistics import with_outputs
from outlive.interpreter.verdicts import Judge
from outlive.meter import Point, Sampler
from outlive.process.delegation import ask_delegation
from outlive.process.flight import Flight, StageSeconds, Unjudged


class _Watch:
    """Times stages and samples memory from outside the worker."""

    def __init__(self) -> None:
        self.sampler: Sampler | None = None
        self.stages: list[StageSeconds] = []

    def begin(self, pid: int) -> None:
        self.sampler = Sampler(pid, forked=True).start()

    def stage(self, name: str, action: Callable[[], Any]) -> Any:
        """Do something as a stage, timed, with a mark when it is done."""
        start = time.perf_counter()
        try:
            return action()
        finally:
            self.stages.append(StageSeconds(name, time.perf_counter() - start))
            if self.sampler is not None:
                self.sampler.mark(name)

    def rest(self) -> None:
        """See no more: what we ask the worker from here on takes memory that the model does not."""
        if self.sampler is not None:
            self.sampler.stop()

    def finish(self, flight: Flight) -> Flight:
        """The flight with what was seen from outside."""
        if self.sampler is None:
            return replace(flight, stages=tuple(self.stages))
        timeline = self.sampler.stop()
        peak = max(_most(timeline.points), flight.peak_bytes or 0)
        points = timeline.points if len(timeline.points) > len(flight.timeline) else flight.timeline
        return replace(flight, stages=tuple(self.stages), timeline=points, peak_bytes=peak)


def _most(points: Sequence[Point]) -> int:
    """The most the model held: copies of outputs that were got from it are not the model's."""
    last = max((at for at, point in enumerate(points) if point.mark == "get"), default=len(points))
    while last < len(points) and not (points[last].mark or "").startswith("invoke"):
        last -= 1
    return max((point.bytes for point in points[: last + 1]), default=0)


def fly(
    inputs: Any,
    repeat: int,
    seed: int,
    *,
    judge: Judge,
    shapes: Mapping[int, Sequence[int]] | None = None,
    quantize: bool = False,
    dequantize: bool = False,
    **arguments: Any,
) -> Flight:
    """Load, allocate, set, invoke `repeat` times, get and free; the record of it all.

    `shapes` are other shapes for inputs, by index, set before tensors are allocated. `quantize` turns floats
    for quantized inputs into their integers, `dequantize` quantized outputs into the floats they stand for.
    A `judge` completes the record of an end; of one that knows no rules it is as it was written.
    """
    watch = _Watch()
    meant = (quantize, dequantize)
    try:
        flight = _fly(watch, inputs, repeat, seed, shapes or {}, meant, {**arguments, "_judge": judge})
    except Unjudged as unjudged:
        if not isinstance(unjudged.fact, Flight):
            raise
        flight = unjudged.fact
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
    interpreter = WorkerInterpreter(**arguments, _watch=watch.begin)
    watch.stages.append(StageSeconds("load", time.perf_counter() - start))
    if watch.sampler is not None:
        watch.sampler.mark("load")
    try:
        # Before tensors are allocated: then XNNPACK comes as well, and takes what others have left.
        named = [delegate.library for delegate in arguments.get("experimental_delegates") or ()]
        delegation = ask_delegation(interpreter.nodes, named) if named else None
        allocate_for(interpreter, inputs, shapes, partial(watch.stage, "allocate"))
        feeds = make_feeds(interpreter.get_input_details(), inputs, seed, quantized=meant[0])
        if watch.sampler is not None:
            watch.sampler.count_in(interpreter.overlaid_bytes)
        watch.stage("set", lambda: _set_all(interpreter, feeds))
        for number in range(repeat):
            watch.stage("invoke" if number == 0 else f"invoke {number + 1}", interpreter.invoke)
        rows = interpreter.get_output_details()
        values = watch.stage("get", lambda: _get_all(interpreter, rows))
        pid, story = interpreter.pid, interpreter.story()
        watch.rest()
        if delegation is None and interpreter.brings_xnnpack:
            delegation = ask_delegation(interpreter.nodes, ["XNNPACK"])
        watch.stage("free", interpreter.close)
    except BaseException:
        interpreter.kill()
        raise
    if meant[1]:
        values = [dequantize_values(affine_of(row), value) for row, value in zip(rows, values, strict=True)]
    return replace(with_outputs(story, rows, values), pid=pid, delegation=delegation, stage="done")


def allocate_for(
    interpreter: WorkerInterpreter,
    inputs: Any,
    shapes: Mapping[int, Sequence[int]] | None = None,
    stage: Callable[[Callable[[], None]], None] = lambda action: action(),
) -> None:
    """Allocate with inputs of the shapes that are wanted, or of the arrays given where the file allows it."""
    rows = interpreter.get_input_details()
    taken = given_shapes(rows, inputs)
    for index, shape in {**taken, **(shapes or {})}.items():
        interpreter.resize_tensor_input(index, list(shape))
    try:
        stage(interpreter.allocate_tensors)
    except RunError as error:
        guessed = [row for row in rows if row["index"] in taken and -1 not in row.get("shape_signature", ())]
        if not guessed or error.flight is None or error.flight.died or error.flight.ended_by:
            raise
        # The file has a 1 there, and it stood for no other size.
        raise wrong_shape(interpreter._judge, guessed[0], taken[guessed[0]["index"]]) from error


def _get_all(interpreter: WorkerInterpreter, rows: list[dict[str, Any]]) -> list[Any]:
    return [interpreter.get_tensor(row["index"]) for row in rows]


def _set_all(interpreter: WorkerInterpreter, feeds: dict[int, NDArray[Any]]) -> None:
    """Each is let go of once the worker has it: large inputs are held twice otherwise."""
    for index in list(feeds):
        interpreter.set_tensor(index, feeds.pop(index))
