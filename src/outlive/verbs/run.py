"""`run`: what happens when a model runs in a worker."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from outlive.atomic_files import whole_file
from outlive.errors import LimitReached, OutliveError
from outlive.interpreter.ladder import AcceleratorWarning
from outlive.model import Model, Source
from outlive.process.limits import Limits
from outlive.verbs.judging import JUDGE
from outlive.verbs.read import content_of, parse_inputs, read, reading_of

if TYPE_CHECKING:
    from outlive.interpreter.interpreter_options import Delegate
    from outlive.process.flight import Flight

__all__ = ["AcceleratorWarning", "run", "with_plan"]


def run(
    source: Source | Model,
    inputs: Any = None,
    *,
    memory: str | int | None = None,
    seconds: float | None = None,
    accelerator: str = "cpu",
    threads: int | None = None,
    sandbox: str | None = None,
    force: bool = False,
    repeat: int = 1,
    seed: int = 0,
    runtime: str = "litert",
    python: str | None = None,
    delegates: Sequence[str | Delegate] = (),
    quantize: bool = False,
    dequantize: bool = False,
    watch_outputs: bool = False,
    save: str | os.PathLike[str] | None = None,
    limits: Limits | None = None,
    tell: Callable[[str], None] = lambda stage: None,
    **options: Any,
) -> Flight:
    """Run a model in a separate process: `.outputs`, `.peak_bytes`, `.timeline`, or how it `.died`.

    `inputs` is a mapping of names to arrays, a list in the order of the model, "zeros", "ones", "random" (the
    default, seeded), or words such as "image=photo.npy"; an array also sets the sizes that the model leaves
    open. `memory` is the most that the model may add, `seconds` the most that a call may take (`limits` is
    both). `accelerator` is "cpu" (XNNPACK), "builtin", "reference", "gpu", "npu", or "auto" for the first
    that works; `delegates` are libraries, "libnpu.so,power=low"; `options` go to `Interpreter`. A model that
    dies, hangs or is refused raises nothing: the flight says so. Only a run that cannot fit `memory` for
    certain is not started: it raises `LimitReached`, unless `force` is set. `quantize` converts floats to the
    integers of quantized inputs, `dequantize` converts quantized outputs to real numbers. `watch_outputs`
    runs the model twice, in memory with different contents, and counts the bytes of each output that it never
    writes. `save` is an .npz file for the outputs. `tell` hears each stage as it begins.

    >>> outlive.run("healthy.tflite")
    Flight(healthy.tflite: ran)
    >>> outlive.run("deadly.tflite").signal
    'SIGSEGV'
    """
    if repeat < 1:
        raise ValueError(f"repeat is a number of runs of at least 1, not {repeat}")
    if watch_outputs and dequantize:
        raise ValueError("watching outputs is about their bytes as they are: leave dequantize out")
    limits, inputs = limits or Limits(memory=memory, seconds=seconds), parse_inputs(inputs)
    options = {"num_threads": threads, "runtime": runtime, "python": python, "sandbox": sandbox, **options}
    if delegates:
        options["experimental_delegates"] = [_delegate(item) for item in delegates]
    given = _opening(source, inputs, accelerator, limits, force, options["num_threads"])
    meant = {"quantize": quantize, "dequantize": dequantize}
    flight = _fly(inputs, repeat, seed, watch_outputs, {**given, **options}, {**meant, "tell": tell})
    if save is not None and not (flight.died or flight.error_type):
        _save(os.fspath(save), flight)
    return flight


def with_plan(flight: Flight, accelerator: str = "cpu", threads: int | None = None) -> Flight:
    """The run with its model, and the plan for it where there is one: what a page shows beside it."""
    from outlive.verbs.plan import plan

    model = None if flight.source is None else reading_of(flight.source).model
    found = None
    if model is not None and accelerator in ("cpu", "builtin", "reference"):
        with contextlib.suppress(OutliveError, ValueError):
            found = plan(model, accelerator, threads=threads)
    return replace(flight, source_model=model, plan=None if found is None or found.refusals else found)


def _opening(
    source: Source | Model, inputs: Any, accelerator: str, limits: Limits, force: bool, threads: Any
) -> dict[str, Any]:
    """What an interpreter is given of the model, the accelerator and the limits."""
    from outlive.interpreter.interpreter_options import ACCELERATORS
    from outlive.interpreter.ladder import run_arguments

    if isinstance(source, (str, os.PathLike)):
        _need_a_model_file(os.fspath(source))
        model: dict[str, Any] = {"model_path": source}
    else:
        model = {"model_content": content_of(source) or content_of(read(source))}  # of nothing, F102
    if limits.memory_bytes is not None and not force and accelerator in ACCELERATORS:
        _refuse_hopeless(source, inputs, accelerator, limits.memory_bytes, threads)
    kernels = run_arguments(accelerator)
    return {**model, **kernels, "memory": limits.memory_bytes, "seconds": limits.seconds}


def _fly(
    inputs: Any, repeat: int, seed: int, twice: bool, given: dict[str, Any], meant: dict[str, Any]
) -> Flight:
    from outlive.interpreter.recorded_run import RunInputs, record_run, record_run_twice, with_inner_tensors

    flight = (record_run_twice if twice else record_run)(inputs, repeat, seed, judge=JUDGE, **meant, **given)
    feeding = RunInputs(inputs=inputs, seed=seed, quantized=meant["quantize"])
    return with_inner_tensors(flight, feeding, given, vary=repeat > 1)


def _delegate(item: str | Delegate) -> Delegate:
    """A library with its options, in words: LIBRARY,KEY=VALUE; ValueError if it cannot be loaded here."""
    from outlive.accelerators.configurations import library_problem
    from outlive.interpreter.interpreter_options import load_delegate

    if not isinstance(item, str):
        return item
    library, *pairs = item.split(",")
    if not library or not all("=" in pair for pair in pairs):
        raise ValueError(f"{item!r} is not a delegate: write LIBRARY or LIBRARY,KEY=VALUE,KEY=VALUE")
    problem, remedy = library_problem(library)
    if problem:
        raise ValueError(f"delegate {library}: {problem}; {remedy} (outlive explain A806)")
    return load_delegate(library, dict(pair.split("=", 1) for pair in pairs))


def _save(path: str, flight: Flight) -> None:
    import numpy as np

    with whole_file(path if path.endswith(".npz") else f"{path}.npz") as file:
        np.savez(file, **flight.values)


def _need_a_model_file(path: str) -> None:
    """`ModelError` for what the runtime could not even open: there it would only be a refusal."""
    try:
        facts = os.stat(path)
        sound_file = stat.S_ISREG(facts.st_mode) and facts.st_size > 0 and os.access(path, os.R_OK)
    except (OSError, ValueError):
        sound_file = False
    if not sound_file:
        read(path)


def _refuse_hopeless(
    source: Source | Model, inputs: Any, accelerator: str, limit_bytes: int, threads: Any
) -> None:
    """LimitReached if the plan says for certain that the limit is not enough."""
    from outlive.arena.questions import PlanRequest, input_rows
    from outlive.interpreter.feeds import given_shapes
    from outlive.planning.verdicts import hopeless
    from outlive.rendering.finding_text import plain_finding

    model = source if isinstance(source, Model) else reading_of(source).model
    if model is None or model.flaws:
        return  # the runtime will say what it thinks of it
    if given_shapes(input_rows(model), inputs):
        return  # only the runtime knows the shapes that follow from these
    finding = hopeless(model, PlanRequest(accelerator=accelerator, threads=threads), limit_bytes)
    if finding is not None:
        raise LimitReached(finding, plain_finding(finding))
