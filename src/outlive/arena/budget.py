"""Fits, tight, may not fit, does not fit: a plan held against the memory there is.

How far plans were from what models took, on models that are kept out of the tuning of rules.

The counts in accuracy.json are written by benchmarks/plan_accuracy.py, and by nothing else.

The arena to set aside on a microcontroller: what was planned, room for resource variables, a margin.
"""

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from outlive.arena.devices import Device
from outlive.arena.plan import SAID, WORDS, Bound, Budget, Placement, Plan, Verdict, Way, Word, is_exact
from outlive.model import Model
from outlive.records import NOT_WRITTEN, in_document
from outlive.units import format_bytes, parse_bytes, plural

PATH = Path(__file__).with_name("accuracy.json")
LARGE_BYTES = 5_000_000
# How much more than its plan a model may take, unless the plan says "at least": the promise that is checked.
ERROR_SHARE, ERROR_BYTES = 0.03, 200_000


def said_of(bound: Bound, size: int) -> str:
    """The words before a peak. A small peak may be off by more than itself: it is "about" so much."""
    return SAID["estimate"] if bound == "upper" and size < LARGE_BYTES else SAID[bound]


def tally(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """By what plans said of their peak: how many were near, and how many models took more."""
    return {bound: _count([row for row in rows if row["bound"] == bound]) for bound in SAID}


def _count(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    large = [row for row in rows if row["measured_bytes"] >= LARGE_BYTES]
    errors = [_error(row) / row["measured_bytes"] for row in large]
    small = [_error(row) for row in rows if row["measured_bytes"] < LARGE_BYTES]
    return {
        "large": len(errors),
        "large_within": sum(abs(error) <= ERROR_SHARE for error in errors),
        "large_low": sum(error < -ERROR_SHARE for error in errors),
        "small": len(small),
        "small_within": sum(abs(error) <= ERROR_BYTES for error in small),
    }


def _error(row: Mapping[str, Any]) -> int:
    return int(row["planned_bytes"]) - int(row["measured_bytes"])


def expected_error(accelerator: str, bound: Bound) -> str:
    """The sentence that a plan says of itself; never stronger than what was counted."""
    known = _counts().get("builtin" if accelerator == "reference" else accelerator, {})
    found = known.get(bound, {})
    if not found.get("large"):
        return f'how far this plan is off: no plans that say "{SAID[bound]}" were compared with runs'
    large, small, low = found["large"], found["small"], found["large_low"]
    near, near_small = _percent(found["large_within"], large), _percent(found["small_within"], small)
    return (
        f"how far this plan is off: of {large} models of 5 MB and more that rules are no longer tuned on, "
        f'whose plan said "{SAID[bound]}", {near} were within 3 % of it and {low} took more than that; '
        f"of {small} smaller ones {near_small} were within 0.2 MB"
    )


def _percent(part: int, whole: int) -> str:
    return f"{100 * part // max(1, whole)} %"


@functools.cache
def _counts() -> dict[str, dict[str, dict[str, int]]]:
    counts: dict[str, dict[str, dict[str, int]]] = json.loads(PATH.read_text())
    return counts


_ALIGNMENT_BYTES = 16
# What is added to a plan: a twentieth where every byte was worked out, a quarter where something was guessed.
_EXACT_SHARE, _GUESSED_SHARE = 0.05, 0.25
_LEAST_MARGIN_BYTES = 256
# sizeof(MicroResourceVariables) and of an entry: tensorflow/lite/micro/micro_resource_variable.h
_VARIABLE_BYTES = {"host64": (16, 40)}
_VARIABLE_BYTES_32 = (12, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArenaSize:
    """The size of the arena, and what it is made of."""

    planned_bytes: int
    variables: int = field(metadata=NOT_WRITTEN)
    variable_bytes: int
    margin_bytes: int
    margin_words: str = field(metadata=NOT_WRITTEN)

    @property
    def needed_bytes(self) -> int:
        """All but the margin."""
        return self.planned_bytes + self.variable_bytes

    @property
    @in_document("arena_bytes")
    def bytes(self) -> int:
        """All of it."""
        return self.needed_bytes + self.margin_bytes


def arena_for(model: Model, plan: Plan, abi: str = "cortex-m", margin: str | None = None) -> ArenaSize | None:
    """The arena that a plan for TensorFlow Lite Micro asks for; None if that refuses the model.

    `margin` is a share such as "10%" or a size such as "2KB". ValueError for what is neither.
    """
    if plan.min_arena_bytes is None:
        return None
    variables = len(_resource_names(model))
    room = 0
    if variables:
        kept, each = _VARIABLE_BYTES.get(abi, _VARIABLE_BYTES_32)
        room = _aligned(kept) + _aligned(each * variables) + _ALIGNMENT_BYTES
    size, words = _margin(plan.min_arena_bytes, plan.exact, margin)
    return ArenaSize(
        planned_bytes=_aligned(plan.min_arena_bytes),
        variables=variables,
        variable_bytes=room,
        margin_bytes=_aligned(size),
        margin_words=words,
    )


def _resource_names(model: Model) -> set[tuple[object, object]]:
    handles = [op.options for op in model.operators() if op.type == "VAR_HANDLE"]
    return {
        (options.get("container"), options.get("shared_name")) if options is not None else (None, None)
        for options in handles
    }


def _margin(planned: int, exact: bool, wanted: str | None) -> tuple[int, str]:
    if wanted is None:
        share = _EXACT_SHARE if exact else _GUESSED_SHARE
        why = "for another version or build" if exact else "because something was guessed"
        least = plural(_LEAST_MARGIN_BYTES, "byte")
        return max(int(planned * share), _LEAST_MARGIN_BYTES), f"{share:.0%}, at least {least}, {why}"
    if wanted.endswith("%"):
        try:
            share = float(wanted[:-1]) / 100
        except ValueError:
            share = -1.0
        if not 0 <= share <= 10:
            raise ValueError(f"{wanted[:40]!r} is no margin; write 10% or 2KB")
        return int(planned * share), f"{wanted}, as asked for"
    return parse_bytes(wanted), "as asked for"


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES


__all__ = [
    "ONE_BLOCK",
    "WORDS",
    "Budget",
    "Verdict",
    "Way",
    "certain_bytes",
    "device_budget",
    "error_bytes",
    "needed_bytes",
    "seen_bytes",
    "weigh",
    "worst_moment",
]
# Less room than this is called tight: the stack of the program, its buffers and fragmentation want some too.
_TIGHT_SHARE = 0.1
# An estimate may be off by as much as itself: float16 computed in float32 takes twice the memory.
_ESTIMATE_SHARE = 1.0
_LARGEST = 5
# How a reason begins that is about banks of memory.
ONE_BLOCK = "an arena is one block"


def device_budget(device: Device) -> Budget:
    """What a device has, as its document says; nothing is taken off for a system that says nothing."""
    left = device.left_by_os_bytes
    return Budget(
        kind="device",
        title=device.title,
        ram_bytes=device.ram_bytes if left is None else left,
        source=device.document or f"device file {device.name}",
        options=("--device", device.name),
        flash_bytes=device.flash_bytes,
        device=device,
    )


def needed_bytes(plan: Plan) -> int | None:
    """What has to be there: the smallest arena on a microcontroller, the peak of private memory elsewhere."""
    return plan.min_arena_bytes if plan.accelerator == "tflm" else plan.peak_bytes


def seen_bytes(plan: Plan) -> int:
    """The peak that was measured; 0 if none was, or if it is that of another build."""
    return 0 if plan.measured is None else int(plan.measured.get("peak_bytes") or 0)


def error_bytes(plan: Plan) -> int | None:
    """How much more than planned the model may take; None if that is unknown."""
    if plan.bound == "lower":
        return None
    if is_exact(plan) or plan.accelerator == "tflm":  # an arena has a margin of its own: see `arena_for`
        return 0
    share = ERROR_SHARE if plan.bound == "upper" else _ESTIMATE_SHARE
    return max(ERROR_BYTES, int(share * (needed_bytes(plan) or 0)))


def weigh(plan: Plan, budget: Budget, ways: Sequence[Way] = (), arena: ArenaSize | None = None) -> Verdict:
    """The verdict on a plan; on a microcontroller, with all that belongs into its `arena` if that is known.

    An arena is one block, and a program sets it aside with its margin: it has to go into one bank of memory.
    """
    needed = needed_bytes(plan)
    if needed is not None:
        needed = max(needed, seen_bytes(plan)) + (0 if arena is None else arena.variable_bytes)
    block = _block_excess(plan, budget, needed, arena)
    flash = _flash_margin(plan, budget)
    if needed is None:
        word: Word = "refused"
        reasons = [f"the runtime refuses {item.type}: {item.reason}" for item in plan.refusals[:3]]
    elif needed > budget.ram_bytes or (flash is not None and flash < 0) or block:
        word, reasons = "does not fit", [*_excess(needed, flash, budget), *block]
    else:
        doubts = list(_doubts(plan, needed, budget))
        reasons = [*doubts, *_tightness(plan, needed, budget, arena)]
        word = "may not fit" if doubts else "tight" if reasons else "fits"
    return Verdict(
        plan=plan,
        budget=budget,
        word=word,
        needed_bytes=needed,
        margin_bytes=None if needed is None else budget.ram_bytes - needed,
        flash_margin_bytes=flash,
        reasons=tuple(reasons),
        ways=tuple(ways),
    )


def certain_bytes(plan: Plan) -> int:
    """What the model takes for certain, whatever an estimate is worth: the part it cannot do without."""
    if plan.exact and plan.arena_bytes is not None:
        reserved = plan.arena_bytes + (plan.persistent_bytes or 0)
        return min(reserved, plan.peak_bytes or reserved)  # not all of it need be written to
    return plan.lower_bound_bytes or 0


def worst_moment(plan: Plan) -> tuple[int, tuple[Placement, ...]] | None:
    """The operator of the main subgraph with the most bytes alive, and the largest tensors alive there."""
    if not plan.ops:
        return None
    position, worst = max(enumerate(plan.ops), key=lambda item: item[1].live_bytes)
    alive = [
        place
        for place in (*plan.placements, *plan.workspace_placements)
        if place.subgraph == 0 and not place.persistent and place.first_op <= position <= place.last_op
    ]
    alive.sort(key=lambda place: -place.size_bytes)
    return worst.index, tuple(alive[:_LARGEST])


def _flash_margin(plan: Plan, budget: Budget) -> int | None:
    return None if budget.flash_bytes is None else budget.flash_bytes - plan.file_bytes


def _excess(needed: int, flash: int | None, budget: Budget) -> list[str]:
    reasons = []
    if needed > budget.ram_bytes:
        reasons.append(f"needs {needed:,} bytes, {needed - budget.ram_bytes:,} too many")
    if flash is not None and flash < 0:
        reasons.append(f"the file is {-flash:,} bytes larger than the flash")
    return reasons


def _block_excess(plan: Plan, budget: Budget, needed: int | None, arena: ArenaSize | None) -> list[str]:
    """Why no bank of memory holds the arena; nothing if one does, or if there is but one bank."""
    device = budget.device
    block = device.largest_block_bytes if device is not None and plan.accelerator == "tflm" else None
    if block is None or needed is None or needed > budget.ram_bytes:
        return []
    wanted = needed if arena is None else arena.bytes
    if wanted <= block:
        return []
    margin = "" if arena is None or not arena.margin_bytes else " with its margin"
    return [
        f"{ONE_BLOCK}: {wanted:,} bytes{margin}; the largest memory bank has {block:,}, "
        f"{wanted - block:,} too few"
    ]


def _doubts(plan: Plan, needed: int, budget: Budget) -> Iterator[str]:
    """Why it is not known to fit, though the plan is not above the budget."""
    more = error_bytes(plan)
    if more is None:
        yield f"the model needs at least {format_bytes(needed)}, plus memory of unknown size"
    elif needed + more > budget.ram_bytes:
        left = format_bytes(budget.ram_bytes - needed)
        yield f"the plan may be wrong by {format_bytes(more)}, and {left} are left"


def _tightness(plan: Plan, needed: int, budget: Budget, arena: ArenaSize | None) -> list[str]:
    reasons = []
    margin = budget.ram_bytes - needed
    if margin < _TIGHT_SHARE * budget.ram_bytes:
        reasons.append(f"only {format_bytes(margin, budget.ram_bytes)} left, less than 10%")
    micro = plan.accelerator == "tflm"
    if not micro and plan.total_bytes is not None and plan.total_bytes > budget.ram_bytes:
        reasons.append("no memory left for the mapped file: the system reads it again in every run")
    if micro and arena is not None and arena.bytes > budget.ram_bytes:
        over = arena.bytes - budget.ram_bytes
        reasons.append(f"a margin of {arena.margin_bytes:,} bytes does not fit, {over:,} too many")
    if budget.free_bytes is not None and needed > budget.free_bytes:
        reasons.append(f"only {format_bytes(budget.free_bytes)} are free now")
    return reasons
