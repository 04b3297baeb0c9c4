"""Plans beside what a runtime does: where it puts tensors, and what a run takes at most."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import outlive
from outlive.arena.builtin.planning import plan_builtin
from outlive.arena.plan import Question
from outlive.errors import OutliveError
from outlive.model import read_source
from tests.against_runtime.arena_truth import Runtime, differences

SECONDS = 60.0
MEMORY = "2GB"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One model under one runtime."""

    name: str
    error: str = ""
    differs: tuple[str, ...] = ()  # from the plan of the builtin kernels
    planned_bytes: int = 0
    peak_bytes: int = 0  # of a run with XNNPACK; 0 if it did not run


def outcomes(paths: Iterable[Path], python: str) -> Iterator[Outcome]:
    """What the runtime of this Python does with each model."""
    with Runtime(python) as runtime:
        for path in paths:
            yield _outcome(runtime, path, python)


def _outcome(runtime: Runtime, path: Path, python: str) -> Outcome:
    truth = runtime.allocate(path)
    model = read_source(path).model
    if truth.error or not truth.places.get(0) or model is None:
        return Outcome(
            name=path.name, error=truth.error.splitlines()[0][:120] if truth.error else "no tensors"
        )
    plan = plan_builtin(model, Question(accelerator="builtin"))
    differs = tuple(refusal.reason for refusal in plan.refusals) or tuple(differences(plan, model, truth))
    try:
        planned = outlive.plan(path).peak_bytes
        flight = outlive.run(path, "ones", memory=MEMORY, seconds=SECONDS, python=python)
    except OutliveError:
        return Outcome(name=path.name, differs=differs)
    peak = 0 if flight.died or flight.error else flight.peak_bytes
    return Outcome(name=path.name, differs=differs, planned_bytes=planned or 0, peak_bytes=peak or 0)
