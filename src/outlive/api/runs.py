"""What happens when it runs: verbs that start workers."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from outlive.api.files import content_of, read, sound
from outlive.api.progress import heard
from outlive.errors import LimitReached
from outlive.model import Model, Source, read_source
from outlive.worker.limits import Limits

if TYPE_CHECKING:
    from outlive.arena.devices import Device
    from outlive.delegates import Coverage
    from outlive.diagnosis.nouns import Diagnosis
    from outlive.finding import Finding
    from outlive.meter.growth import Growth, Stage
    from outlive.meter.watching import Watch
    from outlive.worker.flight import Flight
    from outlive.worker.options import Delegate


def run(
    source: Source | Model,
    inputs: Any = None,
    *,
    limits: Limits | None = None,
    accelerator: str = "cpu",
    repeat: int = 1,
    seed: int = 0,
    force: bool = False,
    quantize: bool = False,
    dequantize: bool = False,
    watch_outputs: bool = False,
    **options: Any,
) -> Flight:
    """The record of a run in a worker: outputs, memory and time by stage, or how it died.

    `inputs` is a mapping of names to arrays, a list in the model's order, or "zeros", "ones", "random" (the
    default, seeded); where the file leaves a size open, the array given decides it. `accelerator` is "cpu"
    (XNNPACK), "builtin", "reference", "gpu", "npu", or "auto" to try them from the top of a ladder; `options`
    go to `Interpreter`. Nothing is raised because a model dies, hangs or is refused: the flight says so. Only
    a run that cannot fit `limits.memory` for certain is not started: `LimitReached`, unless `force` is set.
    `quantize` turns floats for quantized inputs into their integers, `dequantize` gives quantized outputs as
    the real numbers they stand for. `watch_outputs` runs it twice, in memory filled with different bytes, and
    counts the bytes of each output that were never written.
    """
    from outlive.worker.compiled_ladder import run_arguments
    from outlive.worker.intermediates import Feeding, with_inside
    from outlive.worker.options import ACCELERATORS
    from outlive.worker.running import fly
    from outlive.worker.untouched import fly_twice

    limits = limits or Limits()
    if isinstance(source, (str, os.PathLike)):
        _need_a_model_file(os.fspath(source))
    if limits.memory_bytes is not None and not force and accelerator in ACCELERATORS:
        _refuse_hopeless(source, inputs, accelerator, limits.memory_bytes, options.get("num_threads"))
    given: dict[str, Any] = {
        **run_arguments(accelerator),
        "memory": limits.memory_bytes,
        "seconds": limits.seconds,
    }
    if isinstance(source, (str, os.PathLike)):
        given["model_path"] = source
    else:
        given["model_content"] = content_of(source) or content_of(read(source))  # of nothing, F102
    if watch_outputs and dequantize:
        raise ValueError("watching outputs is about their bytes as they are: leave dequantize out")
    start = fly_twice if watch_outputs else fly
    flight = start(inputs, repeat, seed, quantize=quantize, dequantize=dequantize, **given, **options)
    feeding = Feeding(inputs=inputs, seed=seed, quantized=quantize)
    return with_inside(flight, feeding, {**given, **options}, vary=repeat > 1)


@heard
def diagnose(
    source: Source | Model | Flight | BaseException,
    inputs: Any = None,
    *,
    limits: Limits | None = None,
    accelerator: str = "cpu",
    threads: int | None = None,
    reduce: str | os.PathLike[str] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Diagnosis:
    """Why a model dies, hangs or is refused: the cause, the operator, and which configurations do work.

    It is run as it is and then, if it ended badly, with one thing changed at a time, each in a worker of its
    own; `inputs` and `accelerator` are as for `run`. Give a `Flight`, or an exception that was caught, to
    judge a run that is over. `reduce` is where to write the smallest model that ends the same way, with a
    script beside it that shows it. `tell` hears in words what is being tried.
    """
    from outlive.diagnosis.caught import diagnose_error, diagnose_flight
    from outlive.diagnosis.opening import diagnose_case, open_case
    from outlive.diagnosis.reducing import with_reproducer
    from outlive.worker.flight import Flight

    if isinstance(source, Flight):
        return diagnose_flight(source)
    if isinstance(source, BaseException):
        return diagnose_error(source)
    case = open_case(source, inputs, limits or Limits(), accelerator, threads, _judge_values)
    diagnosis = diagnose_case(case, tell)
    return diagnosis if reduce is None else with_reproducer(diagnosis, case, os.fspath(reduce), tell)


@heard
def probe(
    source: Source | Model,
    *,
    only: Sequence[str] = (),
    delegates: Sequence[Delegate] = (),
    inputs: Any = None,
    limits: Limits | None = None,
    threads: int | None = None,
    seed: int = 0,
    cache: bool = True,
    bisect: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> Coverage:
    """What each accelerator here takes of a model, and does: each is tried in a worker of its own.

    `only` names accelerators (default: all that are usual), `delegates` are libraries to try as well (see
    `load_delegate`). Outputs are compared with those of LiteRT's reference kernels on the same `inputs`.
    Nothing is raised because an accelerator dies, refuses or is not here: the coverage says so. `cache` keeps
    what was costly to find out; `bisect` looks for the operators that make one die or differ (`.culprit`);
    `tell` hears what is being tried. ValueError for a name that there is not.
    """
    from outlive.delegates.asking import probe_source

    model = sound(source)
    given = os.fspath(source) if isinstance(source, (str, os.PathLike)) else content_of(model)
    return probe_source(
        model,
        given,
        only,
        delegates,
        inputs,
        limits,
        threads=threads,
        seed=seed,
        cache=cache,
        bisect=bisect,
        tell=tell,
    )


@heard
def leak(
    function_or_model: Callable[[], Any] | Source | Model,
    cycle: str = "all",
    repeat: int | None = None,
    *,
    seconds: float = 120.0,
    ram: str | int | None = None,
    device: str | Device | None = None,
    memory: str | int | None = None,
    tell: Callable[[str, Stage], None] = lambda cycle, stage: None,
    **options: Any,
) -> Growth:
    """Whether something grows when it is repeated in a worker: how much per round, what, and until when.

    A function without arguments, "script.py::function", or a model, whose `cycle` is "load" (open, allocate,
    run, free), "invoke", "resize" or "all". It is repeated until the verdict is clear or `seconds` have
    passed, or exactly `repeat` times. `ram` or `device` is the memory that would be full one day (default:
    this machine's or container's), `memory` what the worker may add. `options` for models: accelerator,
    threads, runtime. A death ends the rounds, and what was measured before it comes back all the same.
    """
    from outlive.report.leak_verdict import with_findings
    from outlive.worker.leak_asking import choose_room, find_targets, measure_growth
    from outlive.worker.leak_running import Order

    source = function_or_model.content if isinstance(function_or_model, Model) else function_or_model
    what, targets = find_targets(source, cycle, **options)
    if targets[0][0] != "call" and not callable(function_or_model):
        read(function_or_model, tolerant=True)  # what is no model at all is told better than a runtime does
    limit = Limits(memory=memory, seconds=seconds)
    room = choose_room(ram, device)
    order = Order(repeat=repeat, seconds=seconds, memory_bytes=limit.memory_bytes, room=room)
    return with_findings(measure_growth(what, targets, order, tell))


def watch(*, quiet: bool = False) -> Watch:
    """The memory of this process while a block of code runs: `with outlive.watch() as memory:`.

    `memory.mark("loaded")` names a moment; at the end the marks, the peak and a small curve are printed
    unless `quiet`. `memory.timeline` has the points, `memory.plot("memory.svg")` draws them.
    """
    from outlive.meter.watching import Watch
    from outlive.report.watch_text import draw_watch, show_watch

    return Watch(None if quiet else show_watch, draw_watch)


def _judge_values(model: Model, inputs: Any) -> tuple[Finding, ...]:
    """What the rules on given values say; nothing of values for inputs that there are not."""
    from outlive.diagnosis.verdict import with_call_cause
    from outlive.fitting.feeding import make_feed
    from outlive.rules import judge
    from outlive.rules.catalogue import RULES

    try:
        feed = make_feed(model, inputs)
    except (ValueError, TypeError):
        return ()
    found = judge({"inputs": feed}, [rule for rule in RULES if rule.facts == ("inputs",)]).findings
    return tuple(map(with_call_cause, found))


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
    from outlive.arena.questions import Wish, input_rows
    from outlive.fitting.verdicts import hopeless
    from outlive.report.finding_text import plain_finding
    from outlive.worker.feeding import given_shapes

    model = source if isinstance(source, Model) else read_source(source).model
    if model is None or model.flaws:
        return  # the runtime will say what it thinks of it
    if given_shapes(input_rows(model), inputs):
        return  # only the runtime knows the shapes that follow from these
    finding = hopeless(model, Wish(accelerator=accelerator, threads=threads), limit_bytes)
    if finding is not None:
        raise LimitReached(finding, plain_finding(finding))
