"""`compare`: how far a candidate is from its reference, tensor by tensor."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from outlive.finding import Finding, shell_path
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
_RANDOM = "no samples given: used seeded random inputs; real inputs are more meaningful"


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
    """Compare a candidate with its reference, tensor by tensor: `.tensors`, `.outputs`, `.worst()`.

    `samples` are arrays, a mapping of names to arrays, an iterable of samples or a function that returns one,
    an .npz file or a folder. `layers` are types, names, patterns, indices or ranges ("10:20") of operators.
    `metrics` are functions of an output of both models and, if they take a third argument, of the number of
    the sample. `memory` limits the captured tensors (default 512MB, or the need of the largest operator).

    >>> drift = outlive.compare("healthy.tflite", "healthy_int8.tflite")
    >>> drift
    Drift(healthy_int8.tflite against healthy.tflite: SQNR ... dB at the outputs, 8 samples)
    >>> len(drift), drift["probabilities"].op_type
    (17, 'SOFTMAX')
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
    names = {"FLOAT": right.path, "FILE": asked.path, "OUT": _output_name(asked.path)}
    names["samples.npz"] = samples if isinstance(samples, str) else None
    findings = tuple(_with_paths(item, names) for item in judge({"drift": drift}).findings)
    return replace(drift, notes=notes, findings=findings)


def _output_name(path: str | None) -> str | None:
    """A name for the next candidate, beside this one."""
    return None if path is None else f"{path.removesuffix('.tflite')}_new.tflite"


def _with_paths(finding: Finding, names: Mapping[str, str | None]) -> Finding:
    """The finding with the caller's own paths in its commands, where they are known."""
    known = {word: shell_path(path) for word, path in names.items() if path}
    pattern = re.compile("|".join(rf"(?<!\S){re.escape(word)}(?!\S)" for word in known) or r"(?!)")
    remedies = tuple(
        replace(item, command=pattern.sub(lambda match: known[match.group()], item.command))
        for item in finding.remedies
    )
    return replace(finding, remedies=remedies)
