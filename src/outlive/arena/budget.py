"""Fits, tight, may not fit, does not fit: a plan held against the memory there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from outlive.arena.accuracy import ERROR_BYTES, ERROR_SHARE
from outlive.arena.arena_size import ArenaSize
from outlive.arena.devices import Device
from outlive.arena.plan import WORDS, Budget, Placement, Plan, Verdict, Way, Word, is_exact
from outlive.units import format_bytes

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
        reasons.append(f"{needed:,} bytes are needed, {needed - budget.ram_bytes:,} more than there are")
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
        f"{ONE_BLOCK}: {wanted:,} bytes{margin}, and the largest bank of memory has {block:,}, "
        f"{wanted - block:,} too few"
    ]


def _doubts(plan: Plan, needed: int, budget: Budget) -> Iterator[str]:
    """Why it is not known to fit, though the plan is not above the budget."""
    more = error_bytes(plan)
    if more is None:
        yield f"it takes at least {format_bytes(needed)}: memory whose size is not known comes on top"
    elif needed + more > budget.ram_bytes:
        left = format_bytes(budget.ram_bytes - needed)
        yield f"the plan may be off by {format_bytes(more)}, and {left} are left"


def _tightness(plan: Plan, needed: int, budget: Budget, arena: ArenaSize | None) -> list[str]:
    reasons = []
    margin = budget.ram_bytes - needed
    if margin < _TIGHT_SHARE * budget.ram_bytes:
        reasons.append(f"only {format_bytes(margin)} are left, less than a tenth")
    micro = plan.accelerator == "tflm"
    if not micro and plan.total_bytes is not None and plan.total_bytes > budget.ram_bytes:
        reasons.append("the mapped file does not fit beside it: its pages are dropped and read again")
    if micro and arena is not None and arena.bytes > budget.ram_bytes:
        over = arena.bytes - budget.ram_bytes
        reasons.append(f"a margin of {arena.margin_bytes:,} bytes does not fit beside it, {over:,} too many")
    if budget.free_bytes is not None and needed > budget.free_bytes:
        reasons.append(f"only {format_bytes(budget.free_bytes)} happen to be free now")
    return reasons
