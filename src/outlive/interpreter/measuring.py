"""What a model really takes, stage by stage: run once in a worker, watched from outside."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from outlive.interpreter.options import ACCELERATORS
from outlive.interpreter.running import fly
from outlive.interpreter.verdicts import Judge
from outlive.process.flight import Flight, Unjudged

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
        found = _measurement(fly("ones", 2, 0, judge=Judge(), **opened))
        return _measurement(fly("zeros", 2, 0, judge=Judge(), **opened)) if found.problem else found
    except Unjudged as error:  # there is nothing that could run it
        return Measurement(problem=" ".join(str(error.fact).split())[:300])


def _measurement(flight: Flight) -> Measurement:
    marks = {point.mark: point.bytes for point in flight.timeline if point.mark}
    problem = ""
    if flight.died:
        problem = f"it died while it was in stage {flight.stage} ({flight.signal or flight.ended_by})"
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
