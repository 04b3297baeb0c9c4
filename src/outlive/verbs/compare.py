"""`compare`: how far a candidate is from its reference, tensor by tensor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from outlive.model import Model, Source
from outlive.quant import Drift
from outlive.quant.capture import freeing_memory
from outlive.quant.comparison import compare_models
from outlive.quant.comparison_plan import CompareTask
from outlive.quant.recipes import layer_filter
from outlive.quant.samples import Samples, random_samples
from outlive.rules import judge
from outlive.units import parse_bytes
from outlive.verbs.judging import JUDGE
from outlive.verbs.progress import heard
from outlive.verbs.read import sound

# Enough to see which layers stand out.
_RANDOM_SAMPLES = 8
_RANDOM = "no samples were given: seeded random ones were used; real inputs say more"


@heard
def compare(
    reference: Source | Model,
    candidate: Source | Model,
    samples: Any = None,
    *,
    layers: Sequence[str | int] = (),
    metrics: Mapping[str, Callable[..., float]] | None = None,
    accelerator: str = "cpu",
    memory: str | int | None = None,
    born_here: bool = True,
    tell: Callable[[int, int, int], None] = lambda turn, turns, sample: None,
) -> Drift:
    """How far a candidate is from its reference, tensor by tensor: `.tensors`, `.outputs`, `.worst()`.

    `samples` are arrays, a mapping of names to arrays, an iterable of samples or a function that gives one,
    an .npz file or a folder. `layers` are types, names, patterns, indices or ranges ("10:20") of operators;
    `metrics` functions of an output of both, and, if they take a third argument, of the sample's number;
    `memory` bounds what is held at once (512MB, or what a single operator takes, if that is more).
    """
    right, asked = sound(reference), sound(candidate)
    task = CompareTask(
        reference=right,
        candidate=asked,
        judge=JUDGE,
        accelerator=accelerator,
        budget_bytes=parse_bytes(memory) if isinstance(memory, str) else memory,
        metrics=metrics or {},
        layers=layer_filter(asked, layers) if layers else None,
        born_here=born_here,
        tell=tell,
    )
    given = random_samples(right, _RANDOM_SAMPLES) if samples is None else samples
    with Samples(given, right, JUDGE) as stream, freeing_memory():
        drift = compare_models(task, stream)
    notes = (*drift.notes, _RANDOM) if samples is None else drift.notes
    return replace(drift, notes=notes, findings=judge({"drift": drift}).findings)
