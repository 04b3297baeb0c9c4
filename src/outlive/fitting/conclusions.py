"""What a search concludes: the best candidate, the Pareto front, the shortage if nothing fits, and notes."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from outlive.arena.budget import Budget, certain_bytes, worst_moment
from outlive.arena.plan import Plan
from outlive.arena.questions import PlanRequest
from outlive.fitting.evaluation import EvaluatedCandidate
from outlive.fitting.fit_result import NamedSize, Outcome, Shortage
from outlive.fitting.predictor import SampleSet
from outlive.model import Model
from outlive.planning.planner import left_out
from outlive.quant.recipes import find_recipe, needs_samples
from outlive.units import format_bytes, format_shape


def best(outcomes: Sequence[Outcome]) -> Outcome | None:
    """The one that fits and loses least; among equals, the cheapest for the user.

    Where one that changes as much and loses as little is smaller and quicker at once, it is that one.
    """
    fitting = [outcome for outcome in outcomes if outcome.fits]
    first = min(fitting, key=_worth, default=None)
    if first is None or first.on_front:
        return first
    same = [one for one in fitting if one.on_front and one.loss == first.loss and _are_alike(one, first)]
    return min(same, key=_worth, default=first)


def _are_alike(one: Outcome, other: Outcome) -> bool:
    """True if they take the same inputs and change as much."""
    left, right = one.candidate, other.candidate
    return (one.tag, left.batch, left.inputs) == (other.tag, right.batch, right.inputs)


def _worth(outcome: Outcome) -> tuple[float, float, int]:
    """Loss, then rank; among those that have lost everything, the noise."""
    loss = math.inf if outcome.loss is None else outcome.loss
    noise = -(outcome.sqnr_db or 0.0) if loss >= 1 else 0.0
    return loss, noise, outcome.rank


def with_front(outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """The outcomes, those marked that no other beats in memory, file, time and loss at once."""
    rows = {outcome.rank: _costs(outcome) for outcome in outcomes}
    known = {rank: costs for rank, costs in rows.items() if costs is not None}

    def beaten(rank: int) -> bool:
        mine = known[rank]
        return any(
            all(a <= b for a, b in zip(other, mine, strict=True)) and (other != mine or place < rank)
            for place, other in known.items()
            if place != rank
        )

    return tuple(
        replace(outcome, on_front=outcome.rank in known and not beaten(outcome.rank)) for outcome in outcomes
    )


def _costs(outcome: Outcome) -> tuple[float, float, float, float] | None:
    """What is to be as small as can be; None for what did not run, or whose loss is not known."""
    needed, file_bytes = outcome.needed_bytes, outcome.file_bytes
    if outcome.loss is None or needed is None or file_bytes is None:
        return None
    return needed, file_bytes, outcome.milliseconds or 0.0, outcome.loss


def find_refusal(outcomes: Sequence[Outcome]) -> str:
    """Why nothing runs at all; empty if something does, or would with more memory."""
    tried = [outcome for outcome in outcomes if outcome.verdict != "not tried"]
    if not tried or any(outcome.verdict not in ("refused", "died") for outcome in tried):
        return ""
    return tried[0].reason


def find_shortage(evaluated: Sequence[EvaluatedCandidate], budget: Budget) -> Shortage | None:
    """Why nothing fits, from the candidate that came nearest; None if nothing could even be planned."""
    known = [item for item in evaluated if item.outcome.needed_bytes is not None and item.plan is not None]
    if not known:
        return None
    # What was measured says more than what was planned.
    ran = [item for item in known if item.outcome.measured_peak_bytes is not None]
    nearest = min(ran or known, key=lambda item: (_excess(item.outcome, budget), item.outcome.needed_bytes))
    plan = nearest.plan
    assert plan is not None
    moment = worst_moment(plan)
    op, largest = (None, ()) if moment is None else moment
    return Shortage(
        smallest=nearest.outcome,
        # What is alive at once: no planner can do with less.
        lower_bound_bytes=min(
            max(certain_bytes(item.plan), *(load.live_bytes for load in item.plan.ops), 0)
            for item in known
            if item.plan is not None
        ),
        op=op,
        op_type=next((load.type for load in plan.ops if load.index == op), ""),
        tensors=tuple(NamedSize(place.name, place.size_bytes) for place in largest),
        needed_changes=tuple(_changes(nearest.outcome, plan, budget)),
    )


def _excess(outcome: Outcome, budget: Budget) -> int:
    """How many bytes are missing, in RAM and flash together."""
    flash = 0 if budget.flash_bytes is None else max(0, (outcome.file_bytes or 0) - budget.flash_bytes)
    return max(0, _over(outcome, budget)) + flash


def _over(outcome: Outcome, budget: Budget) -> int:
    """How much more RAM it needs than there is, or an arena than the largest bank of it has."""
    over = (outcome.needed_bytes or 0) - budget.ram_bytes
    block = None if budget.device is None else budget.device.largest_block_bytes
    if block is None or outcome.arena_bytes is None:
        return over
    return max(over, outcome.arena_bytes - block)


def _changes(outcome: Outcome, plan: Plan, budget: Budget) -> Iterator[str]:
    """What would have to change, for the parts that are too large."""
    if outcome.verdict == "loses too much":
        yield f"it would fit, but {outcome.reason}: raise --max-loss, or use quantization-aware training"
        return
    ram, flash = budget.ram_bytes, budget.flash_bytes
    if flash is not None and (outcome.file_bytes or 0) > flash:
        file_bytes = format_bytes(outcome.file_bytes or 0)
        yield f"remove weights: the file has {file_bytes}, the flash {format_bytes(flash)}"
    over = _over(outcome, budget)
    if over <= 0:
        return
    if (outcome.needed_bytes or 0) <= ram:
        yield f"save {format_bytes(over)}: the arena is one block, and no memory bank is large enough"
        return
    activations = (plan.arena_bytes or 0) + (plan.workspace_bytes or 0)
    structures = (plan.persistent_bytes or 0) + (plan.runtime_bytes or 0)
    parts = (
        (activations, "activations", "fewer channels or smaller images at the peak"),
        (plan.packed_weights_bytes or 0, "weights", "fewer weights, or kernels that do not pack them"),
        (structures, "structures", "fewer operators and tensors, or fewer variables"),
    )
    size_bytes, name, advice = max(parts, key=lambda part: part[0])
    yield f"save {format_bytes(over, ram)}, or add as much memory to {format_bytes(ram, ram)}"
    yield f"largest part: {name}, {format_bytes(size_bytes)}: {advice}"


RANDOM = "no samples given: the loss on seeded random inputs is indicative only"
RANDOM_RANGES = "no samples given: static recipes are calibrated on seeded random inputs"
_ON_PAPER = (
    "not run on a microcontroller: the plan for TensorFlow Lite Micro decides about memory, "
    "and loss is measured with LiteRT's reference kernels"
)
_HERE = "measured on this machine, with the device's memory: another processor may pack weights otherwise"


def notes_on(
    model: Model,
    sample_set: SampleSet,
    budget: Budget,
    wish: PlanRequest,
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
        said = f"input {name!r} is dynamic ({format_shape(signature)}); results are for {shape}"
        largest = () if sample_set.is_random else sample_set.largest(place)
        if largest and largest != tensor.shape:
            wanted = format_shape(largest)
            said += f", not for {wanted} as in the samples; use --input {name}={wanted}"
        yield said
