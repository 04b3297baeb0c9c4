"""`run`: what happens when a model runs in a worker."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

from outlive.errors import LimitReached
from outlive.model import Model, Source
from outlive.verbs.judging import JUDGE
from outlive.verbs.opening import content_of
from outlive.verbs.read import read, reading_of
from outlive.worker.limits import Limits

if TYPE_CHECKING:
    from outlive.worker.flight import Flight


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
    meant: dict[str, Any] = {"quantize": quantize, "dequantize": dequantize}
    flight = start(inputs, repeat, seed, judge=JUDGE, **meant, **given, **options)
    feeding = Feeding(inputs=inputs, seed=seed, quantized=quantize)
    return with_inside(flight, feeding, {**given, **options}, vary=repeat > 1)


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
    from outlive.rendering.finding_text import plain_finding
    from outlive.worker.feeding import given_shapes

    model = source if isinstance(source, Model) else reading_of(source).model
    if model is None or model.flaws:
        return  # the runtime will say what it thinks of it
    if given_shapes(input_rows(model), inputs):
        return  # only the runtime knows the shapes that follow from these
    finding = hopeless(model, Wish(accelerator=accelerator, threads=threads), limit_bytes)
    if finding is not None:
        raise LimitReached(finding, plain_finding(finding))
