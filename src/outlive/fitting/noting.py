"""What is to be said of a search as a whole: what it was measured with, and what it did not look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from outlive.arena.budget import Budget
from outlive.arena.questions import Wish
from outlive.fitting.nouns import Outcome
from outlive.fitting.sample_set import SampleSet
from outlive.model import Model
from outlive.planning.with_worker import left_out
from outlive.quant.recipes import find_recipe, needs_samples
from outlive.units import format_shape

RANDOM = "no samples were given: loss was measured on seeded random inputs, and is only indicative"
RANDOM_RANGES = "no samples were given: static recipes measured their ranges on seeded random inputs"
_ON_PAPER = (
    "no microcontroller is at hand to run it on: the plan for TensorFlow Lite Micro decides about memory, "
    "and loss is measured with LiteRT's reference kernels"
)
_HERE = "measured on this machine, with the device's memory: another processor may pack weights otherwise"


def notes_on(
    model: Model,
    sample_set: SampleSet,
    budget: Budget,
    wish: Wish,
    outcomes: Sequence[Outcome],
    on_samples: bool,
) -> Iterator[str]:
    """The notes; `on_samples`: losses come from the samples, and not from a metric's own."""
    if sample_set.problem:
        yield sample_set.problem
    elif sample_set.is_random and on_samples and any(row.loss is not None for row in outcomes):
        yield RANDOM
    elif sample_set.is_random and any(_has_ranges(row) for row in outcomes):
        yield RANDOM_RANGES
    if wish.accelerator == "tflm":
        yield _ON_PAPER
    elif budget.device is not None:
        yield _HERE
    yield from left_out(model, "planned, run and compared")
    yield from _open_inputs(model, sample_set)


def _has_ranges(outcome: Outcome) -> bool:
    """True for a file whose ranges were measured on samples."""
    recipe = outcome.candidate.recipe
    return bool(recipe) and outcome.file_bytes is not None and needs_samples(find_recipe(recipe)[1])


def _open_inputs(model: Model, sample_set: SampleSet) -> Iterator[str]:
    """Inputs whose size is the caller's choice, and at which size they were measured."""
    for place, tensor in enumerate(model.inputs):
        signature = tensor.shape_signature
        if signature is None or -1 not in signature or len(signature) != len(tensor.shape):
            continue
        name, shape = tensor.name[:60], format_shape(tensor.shape)
        said = f"input {name!r} is open, {format_shape(signature)}: what is said here is for {shape}"
        largest = () if sample_set.is_random else sample_set.largest(place)
        if largest and largest != tensor.shape:
            wanted = format_shape(largest)
            said += f", not for {wanted} as in the samples; --input {name}={wanted} is for that"
        yield said
