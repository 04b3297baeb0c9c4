"""A whole run of a model as one flight, watched from outside; it comes back even if the model does not.

What lies between inputs and outputs: the tensors of a model over runs with one or several inputs.

    a run gave NaN         ──> once more on its inputs: which operator made the first
    the user asked to look ──> on several inputs: does each output change? if not: where does the change end

The builtin kernels leave a tensor behind each operator, where XNNPACK makes one step of many; all are kept.
"""

import contextlib
import hashlib
import math
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.errors import InputError, OutliveError, RunError
from outlive.interpreter.affine import affine_of
from outlive.interpreter.affine import dequantize as dequantize_values
from outlive.interpreter.array_facts import see_tensor, with_outputs
from outlive.interpreter.feeds import given_shapes, left_out, make_feeds, wrong_shape
from outlive.interpreter.interpreter import WorkerInterpreter
from outlive.interpreter.interpreter_options import ACCELERATORS
from outlive.interpreter.judge import Judge
from outlive.meter import Point, Sampler
from outlive.process.factories import close_special_factories
from outlive.process.flight import Flight, InsideSeen, StageSeconds, TensorSeen, Unjudged, ask_delegation
from outlive.units import Step


class _Watch:
    """Times stages and samples memory from outside the worker."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.sampler: Sampler | None = None
        self.stages: list[StageSeconds] = []
        self.tell = tell

    def begin(self, pid: int) -> None:
        self.sampler = Sampler(pid, forked=True).start()

    @contextlib.contextmanager
    def stage(self, name: str, call: int = 0, calls: int = 0) -> Iterator[None]:
        """Time a stage, and mark its end; it may be one of several calls."""
        self.tell(Step(name, call, calls))
        start = time.perf_counter()
        try:
            yield
        finally:
            self.note(name, start)

    def note(self, name: str, start: float) -> None:
        """A stage that began at `start` is over."""
        self.stages.append(StageSeconds(name, time.perf_counter() - start))
        if self.sampler is not None:
            self.sampler.mark(name)

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


def record_run(
    inputs: Any,
    repeat: int,
    seed: int,
    *,
    judge: Judge,
    shapes: Mapping[int, Sequence[int]] | None = None,
    quantize: bool = False,
    dequantize: bool = False,
    tell: Callable[[str], None] = lambda stage: None,
    **arguments: Any,
) -> Flight:
    """Load, allocate, set, invoke `repeat` times, get and free; the record of it all.

    `shapes` are other shapes for inputs, by index, set before tensors are allocated. `quantize` turns floats
    for quantized inputs into their integers, `dequantize` quantized outputs into the floats they stand for.
    A `judge` completes the record of an end; of one that knows no rules it is as it was written.
    `tell` hears each stage as it begins.
    """
    watch = _Watch(tell)
    meant = (quantize, dequantize)
    try:
        flight = _run_watched(
            watch, inputs, repeat, seed, shapes or {}, meant, {**arguments, "_judge": judge}
        )
    except (Unjudged, RunError, InputError) as error:
        seen = error.fact if isinstance(error, Unjudged) else error.flight
        # Of a refused input the caller is at fault, unless the model left something wrong in its outputs.
        if not isinstance(seen, Flight) or (isinstance(error, InputError) and seen.stage != "get"):
            raise
        flight = seen
    finally:
        if watch.sampler is not None:
            watch.sampler.stop()
    path = arguments.get("model_path")
    source = arguments.get("model_content") if path is None else os.fspath(path)
    return replace(watch.finish(flight), source=source)


def _run_watched(
    watch: _Watch,
    inputs: Any,
    repeat: int,
    seed: int,
    shapes: Mapping[int, Sequence[int]],
    meant: tuple[bool, bool],
    arguments: dict[str, Any],
) -> Flight:
    watch.tell("load")
    start = time.perf_counter()
    interpreter = WorkerInterpreter(**arguments, _watch=watch.begin)
    watch.note("load", start)
    assert watch.sampler is not None  # begun as soon as there is a worker
    try:
        # Before tensors are allocated: then XNNPACK comes as well, and takes what others have left.
        named = [delegate.library for delegate in arguments.get("experimental_delegates") or ()]
        delegation = ask_delegation(interpreter.nodes, named) if named else None
        allocate_for(interpreter, inputs, shapes, watch.stage("allocate"))
        feeds = make_feeds(interpreter.get_input_details(), inputs, seed, quantized=meant[0])
        watch.sampler.count_in(interpreter.overlaid_bytes)
        with watch.stage("set"):
            for index in list(
                feeds
            ):  # each is let go of once the worker has it: large ones are held twice else
                interpreter.set_tensor(index, feeds.pop(index))
        for number in range(repeat):
            with watch.stage("invoke" if number == 0 else f"invoke {number + 1}", number, repeat):
                interpreter.invoke()
        rows = interpreter.get_output_details()
        with watch.stage("get"):
            values = [interpreter.get_tensor(row["index"]) for row in rows]
        missing = left_out(interpreter.get_input_details(), inputs)
        unset_by = "run" if missing else ""
        pid = interpreter.pid
        story = replace(interpreter.story(), unset_inputs=missing, unset_by=unset_by)
        # What we ask the worker from here on takes memory that the model does not.
        watch.sampler.stop()
        if delegation is None and interpreter.brings_xnnpack:
            delegation = ask_delegation(interpreter.nodes, ["XNNPACK"])
        with watch.stage("free"):
            interpreter.close()
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
    stage: AbstractContextManager[None] | None = None,
) -> None:
    """Allocate with inputs of the shapes that are wanted, or of the arrays given where the file allows it."""
    rows = interpreter.get_input_details()
    taken = given_shapes(rows, inputs)
    for index, shape in {**taken, **(shapes or {})}.items():
        interpreter.resize_tensor_input(index, list(shape))
    try:
        with stage or contextlib.nullcontext():
            interpreter.allocate_tensors()
    except RunError as error:
        guessed = [row for row in rows if row["index"] in taken and -1 not in row.get("shape_signature", ())]
        if not guessed or error.flight is None or error.flight.died or error.flight.ended_by:
            raise
        # The file has a 1 there, and it stood for no other size.
        raise wrong_shape(interpreter._judge, guessed[0], taken[guessed[0]["index"]]) from error


_SECONDS = 120.0
_STAGES = ("load", "allocate", "invoke")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """Private bytes above the worker's baseline after each stage, and the most there were.

    `problem` is empty, or says in words how the run ended; the stages before that are there all the same.
    """

    load_bytes: int | None = None
    allocate_bytes: int | None = None
    invoke_bytes: int | None = None
    peak_bytes: int | None = None
    problem: str = ""


def measure(
    source: str | os.PathLike[str] | bytes,
    *,
    accelerator: str = "cpu",
    threads: int | None = None,
    preserve_all_tensors: bool = False,
    shapes: Mapping[int, tuple[int, ...]] | None = None,
) -> Measurement:
    """Load, allocate and invoke, on ones: kernels skip products of nothing but zeros, and what these take.

    Twice: what libraries take for a moment of the first run, too short to be seen, they keep from then on.
    A model that does not run on ones, because they are no index of its tables, runs on zeros.
    """
    opened: dict[str, Any] = {
        "model_content" if isinstance(source, bytes) else "model_path": source,
        "shapes": shapes,
        "num_threads": threads,
        "experimental_op_resolver_type": ACCELERATORS[accelerator],
        "experimental_preserve_all_tensors": preserve_all_tensors,
        "seconds": _SECONDS,
    }
    try:
        found = _measurement(record_run("ones", 2, 0, judge=Judge(), **opened))
        return _measurement(record_run("zeros", 2, 0, judge=Judge(), **opened)) if found.problem else found
    except Unjudged as error:  # there is nothing that could run it
        return Measurement(problem=" ".join(str(error.fact).split())[:300])


def _measurement(flight: Flight) -> Measurement:
    marks = {point.mark: point.bytes for point in flight.timeline if point.mark}
    problem = ""
    if flight.died:
        problem = f"it died in stage {flight.stage} ({flight.signal or flight.ended_by})"
    elif flight.error_type:
        problem = f"the runtime refused it: {' '.join(flight.error_text.split())[:300]}"
    load, allocate, invoke = (marks.get(stage) for stage in _STAGES)
    return Measurement(
        load_bytes=load,
        allocate_bytes=allocate,
        invoke_bytes=None if problem else invoke,
        peak_bytes=flight.peak_bytes,
        problem=problem,
    )


# Which outputs a run never wrote: two runs in memory that was filled with different bytes beforehand. What a
# kernel wrote is the same in both; what it left alone still holds what the memory was filled with.

# glibc fills memory that is handed out with the complement of this byte, and freed memory with the byte
# itself (mallopt(3), M_PERTURB). No two of the four are the same.
_PATTERNS = (0xA5, 0x3C)


def record_run_twice(inputs: Any, repeat: int, seed: int, *, judge: Judge, **arguments: Any) -> Flight:
    """The second of two flights, with the bytes of each output that neither wrote.

    Or the first flight that went wrong.
    """
    flights: list[Flight] = []
    try:
        for pattern in _PATTERNS:
            surroundings = {"MALLOC_PERTURB_": str(pattern)}
            flights.append(
                record_run(inputs, repeat, seed, judge=judge, _environment=surroundings, **arguments)
            )
            if flights[-1].died or flights[-1].error_type:
                return flights[-1]
    finally:
        close_special_factories()
    return _compare(*flights)


def can_watch() -> bool:
    """True where memory can be filled beforehand."""
    return platform.libc_ver()[0] == "glibc"


def _compare(first: Flight, second: Flight) -> Flight:
    outputs = []
    names = [seen.name for seen in second.outputs]
    for seen in second.outputs:
        before, after = first.values.get(seen.name), second.values.get(seen.name)
        left = None
        # Values are kept by name: of two outputs with one name, nothing is known of the first.
        if (
            can_watch()
            and names.count(seen.name) == 1
            and before is not None
            and after is not None
            and before.dtype.kind != "O"
        ):
            left = untouched_bytes(before, after)
        outputs.append(replace(seen, untouched_bytes=left))
    return replace(second, outputs=tuple(outputs))


def untouched_bytes(first: NDArray[Any], second: NDArray[Any]) -> int | None:
    """How many bytes hold what the memory was filled with, both times; None if they cannot be compared.

    Bytes that differ and are something else come from random numbers, and then nothing is certain.
    """
    if first.shape != second.shape or first.dtype != second.dtype:
        return None
    ours = np.frombuffer(np.ascontiguousarray(first).tobytes(), np.uint8)
    theirs = np.frombuffer(np.ascontiguousarray(second).tobytes(), np.uint8)
    differ = ours != theirs
    filled = _is_filled(ours, _PATTERNS[0]) & _is_filled(theirs, _PATTERNS[1])
    return int(filled.sum()) if bool((differ == filled).all()) else 0


def _is_filled(values: NDArray[np.uint8], pattern: int) -> NDArray[np.bool_]:
    return np.asarray((values == pattern) | (values == pattern ^ 0xFF))


# What a second run has in common with the first; the rest is about kernels, or about watching it.
_SHARED = ("model_path", "model_content", "num_threads", "memory", "runtime", "python", "sandbox")
# The caller waits for the result of the run first: what takes longer than this is not looked at.
_MOST_RUN_S, _MOST_LOOK_S = 2.0, 10.0
_LARGE = 1000.0
Feeds = dict[int, NDArray[Any]]
_Make = Callable[[list[dict[str, Any]], "RunInputs"], list[Feeds]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInputs:
    """What a run was given: inputs as they came, their seed, other shapes, and whether floats were turned."""

    inputs: Any = None
    seed: int = 0
    shapes: Mapping[int, Sequence[int]] | None = None
    quantized: bool = False

    @property
    def chosen(self) -> bool:
        """True if the caller chose the numbers."""
        return self.inputs is not None and not isinstance(self.inputs, str)


def with_inner_tensors(
    flight: Flight, feeding: RunInputs, arguments: Mapping[str, Any], vary: bool
) -> Flight:
    """The flight with what was seen inside the model, where its outputs give a reason to look.

    With `vary` it is run on other inputs as well, if the caller chose none, to see whether outputs change.
    """
    took = dict(flight.stages).get("invoke", math.inf)
    if flight.died or flight.error_type or took > _MOST_RUN_S:
        return flight
    if any(output.not_finite for output in flight.outputs):
        return replace(flight, inside=_look(flight.judge, feeding, arguments, _same, all_tensors=True))
    if not vary or feeding.chosen:
        return flight
    seen = _look(flight.judge, feeding, arguments, _different, all_tensors=False)
    if seen is None or all(tensor.varies for tensor in seen.tensors):
        return flight
    return replace(flight, inside=_look(flight.judge, feeding, arguments, _different, all_tensors=True))


def _look(
    judge: Judge | None, feeding: RunInputs, arguments: Mapping[str, Any], make: _Make, all_tensors: bool
) -> InsideSeen | None:
    """What tensors held; None if the model does not run so, whatever the reason."""
    given = {name: arguments[name] for name in _SHARED if name in arguments}
    try:
        with WorkerInterpreter(
            **given,
            seconds=_MOST_LOOK_S,
            experimental_op_resolver_type=ACCELERATORS["builtin"],
            experimental_preserve_all_tensors=all_tensors,
            _judge=judge,
        ) as interpreter:
            for index, shape in (feeding.shapes or {}).items():
                interpreter.resize_tensor_input(index, list(shape))
            interpreter.allocate_tensors()
            return _see(interpreter, feeding, make, all_tensors)
    except (OutliveError, Unjudged, ValueError, TypeError, IndexError, KeyError, RuntimeError, MemoryError):
        return None


def _see(
    interpreter: WorkerInterpreter, feeding: RunInputs, make: _Make, all_tensors: bool
) -> InsideSeen | None:
    feeds = make(interpreter.get_input_details(), feeding)
    if make is _different and len(feeds) < 3:
        return None
    rows: dict[int, list[tuple[TensorSeen, str]]] = {}
    for feed in feeds:
        interpreter.reset_all_variables()
        for index, value in feed.items():
            interpreter.set_tensor(index, value)
        interpreter.invoke()
        for index in _readable(interpreter, all_tensors):
            value = np.asarray(interpreter.get_tensor(index))
            rows.setdefault(index, []).append((see_tensor(index, value), _digest(value)))
    return InsideSeen(runs=len(feeds), chosen=feeding.chosen, tensors=tuple(map(_joined, rows.values())))


def _readable(interpreter: WorkerInterpreter, all_tensors: bool) -> list[int]:
    """Tensors that hold numbers, in the order they are made: the handle of a variable is read as text."""
    if not all_tensors:
        return [int(row["index"]) for row in interpreter.get_output_details()]
    kinds = {row["index"]: np.dtype(row["dtype"]).kind for row in interpreter.get_tensor_details()}
    made = [tensor for _, _, outputs in interpreter.nodes() for tensor in outputs]
    inputs = [row["index"] for row in interpreter.get_input_details()]
    return [index for index in dict.fromkeys((*inputs, *made)) if kinds.get(index, "O") in "fiub"]


def _same(details: list[dict[str, Any]], feeding: RunInputs) -> list[Feeds]:
    return [make_feeds(details, feeding.inputs, feeding.seed, quantized=feeding.quantized)]


def _different(details: list[dict[str, Any]], feeding: RunInputs) -> list[Feeds]:
    """Inputs that differ: random ones, zeros, ones, and large ones of both signs; each once.

    None for a model with inputs that only some numbers fit: indices, lengths, flags, strings.
    """
    if any(np.dtype(row["dtype"]).kind not in "fiu" or _is_index(row) for row in details):
        return []
    seeds = (feeding.seed, feeding.seed + 1, feeding.seed + 2)
    feeds = [make_feeds(details, "random", seed) for seed in seeds]
    feeds += [make_feeds(details, word) for word in ("zeros", "ones")]
    feeds += [{at: _large(value, seed) for at, value in feeds[0].items()} for seed in seeds]
    return list({"".join(map(_digest, feed.values())): feed for feed in feeds}.values())


def _is_index(row: dict[str, Any]) -> bool:
    kind: np.dtype[Any] = np.dtype(row["dtype"])
    return kind.kind != "f" and kind.itemsize > 2


def _large(value: NDArray[Any], seed: int) -> NDArray[Any]:
    """Numbers over the whole range of small integers; floats a thousand times the usual ones."""
    if value.dtype.kind == "f":
        return _LARGE * value
    limits = np.iinfo(value.dtype)
    chance = np.random.default_rng(seed)
    return chance.integers(limits.min, limits.max + 1, value.shape).astype(value.dtype)


def _joined(seen: list[tuple[TensorSeen, str]]) -> TensorSeen:
    """A tensor over all runs."""
    return replace(
        seen[0][0],
        not_finite=max(one.not_finite for one, _ in seen),
        varies=len({digest for _, digest in seen}) > 1,
        minimum=min(one.minimum for one, _ in seen),
        maximum=max(one.maximum for one, _ in seen),
    )


def _digest(value: NDArray[Any]) -> str:
    data = repr(value.tolist()).encode() if value.dtype.kind == "O" else np.ascontiguousarray(value).tobytes()
    return hashlib.sha256(repr(value.shape).encode() + data).hexdigest()
