"""What would make an accelerator take more of a model: by where refused operators stand, and by reason."""

from __future__ import annotations

import re
from collections.abc import Iterator

from outlive.accelerators import Accelerator, Coverage, OpRefusal
from outlive.finding import Remedy, Tag
from outlive.rules.accelerator.coverage_wording import command
from outlive.units import plural

# What an accelerator says, and what to do about it. The words are those of LiteRT's GPU accelerator
# and of XNNPACK's delegate as the planner tells them.
_ADVICE = (
    (
        r"less than 5|rank > 4|rank|dimensions",
        "keep tensors at rank 4 or less: reshape before, or merge axes",
    ),
    (r"bad input dims size: 0", "give scalars a dimension before they are converted"),
    (r"dynamic|known only in a run", "fix all shapes: convert with a concrete input shape"),
    (r"shrink_axis_mask", "slice with ranges, and drop the axis with a reshape"),
    (r"INT16|COMPLEX|int16|string|INT64|int64", "convert to a type that it computes with: float32 or int8"),
    (r"where floats are needed", "quantize to signed int8, or keep this operator in float"),
)
_MOST = 3
_WORTH_A_MODEL = 2


def remedies_for(coverage: Coverage, one: Accelerator) -> tuple[Remedy, ...]:
    """The remedies that are known for what this accelerator leaves out."""
    return (*_split(coverage, one), *advice(one))[:_MOST]


def _split(coverage: Coverage, one: Accelerator) -> Iterator[Remedy]:
    """Make what stands before or behind all that is taken a model of its own."""
    if not one.taken or len(one.taken) < _WORTH_A_MODEL or any(refusal.op is None for refusal in one.refused):
        return
    first, last = one.taken[0], one.taken[-1]
    if len(one.taken) != last - first + 1:
        return  # there are others in between, and no split would leave one piece
    before, behind = first, one.ops_total - 1 - last
    ends = [words for count, words in ((before, "before"), (behind, "behind")) if count]
    yield Remedy(
        f"run ops {first} to {last} as their own model, and what is {' and '.join(ends)} on the CPU",
        Tag.CHANGES_MODEL,
        effect=f"it then takes all {plural(len(one.taken), 'operator')} in one partition",
        command=command(coverage, "outlive", "cut", "--ops", f"{first}:{last + 1}", "-o", "part.tflite"),
    )


def advice(one: Accelerator) -> Iterator[Remedy]:
    """What to do about the reasons that are known."""
    seen: set[str] = set()
    for refusal in one.refused:
        for pattern, action in _ADVICE:
            if action not in seen and re.search(pattern, refusal.reason):
                seen.add(action)
                yield Remedy(f"{refusal.type}: {action}", Tag.CHANGES_MODEL, effect=_effect(one, refusal))


def _effect(one: Accelerator, refusal: OpRefusal) -> str:
    """How much would be taken then, where that could be computed."""
    for would in one.what_ifs:
        if (would.type, would.reason) == (refusal.type, refusal.reason):
            parts = plural(would.partitions, "partition")
            return f"it would take {would.ops_taken} of {one.ops_total} in {parts}"
    return ""
