"""What the rules on accelerators share: words, and what would make an accelerator take more of a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from outlive.accelerators import Accelerator, Coverage, OpRefusal
from outlive.finding import Evidence, OpPlace, Remedy, Tag
from outlive.rules.wording import command, file_name
from outlive.units import plural

_SHOWN = 4
_INDICES = 6
# What an accelerator says, and what to do about it. The words are those of LiteRT's GPU accelerator
# and of XNNPACK's delegate as the planner tells them.
_ADVICE = (
    (
        r"less than 5|rank > 4|rank|dimensions",
        "keep tensors at rank 4 or less: reshape, or merge axes",
    ),
    (r"bad input dims size: 0", "give scalars a dimension before conversion"),
    (r"dynamic|known only in a run", "fix all shapes: convert with a concrete input shape"),
    (r"shrink_axis_mask", "slice with ranges, and remove the axis with a reshape"),
    (r"INT16|COMPLEX|int16|string|INT64|int64", "convert to a supported type: float32 or int8"),
    (r"where floats are needed", "quantize to signed int8, or keep this operator in float"),
)
_MOST = 3
_WORTH_A_MODEL = 2


def place(coverage: Coverage, one: Accelerator) -> str:
    """The file, and the accelerator it was tried on."""
    return f"{file_name(coverage.path)}, {one.name}"


def others_that_run(coverage: Coverage, one: Accelerator) -> tuple[Remedy, ...]:
    """What runs the model instead, the quickest first; nothing if nothing does."""
    fit = [
        other
        for other in coverage.accelerators
        if other is not one
        and other.outcome == "runs"
        and not other.is_software
        and other.name in ("xnnpack", "builtin", "reference")
        and other.milliseconds is not None
    ]
    fit.sort(key=lambda other: other.milliseconds or 0.0)
    names = {"xnnpack": "cpu"}
    return tuple(
        Remedy(
            f"run the model with {other.name}",
            Tag.SAME_RESULTS,
            effect=f"{other.milliseconds:,.2f} ms per run",
            command=command("outlive run", coverage.path, "--accelerator", names.get(other.name, other.name)),
        )
        for other in fit[:1]
    )


def refusals(refused: Sequence[OpRefusal]) -> Iterator[Evidence]:
    """The operators that were left to the CPU, grouped by reason; how many more where there are many."""
    groups: dict[tuple[str, str, str], list[int]] = {}
    for refusal in refused:
        known = groups.setdefault((refusal.type, refusal.reason, refusal.source), [])
        if refusal.op is not None:
            known.append(refusal.op)
    for (kind, reason, source), ops in list(groups.items())[:_SHOWN]:
        listed = ", ".join(map(str, ops[:_INDICES])) + (" ..." if len(ops) > _INDICES else "")
        yield Evidence(f"{kind}{f' (operator {listed})' if ops else ''}: {reason}", source or "run")
    if len(groups) > _SHOWN:
        yield Evidence(f"{plural(len(groups) - _SHOWN, 'more reason')}", "run")


def culprit(one: Accelerator) -> tuple[tuple[Evidence, ...], OpPlace | None]:
    """What bisection found, as evidence; and the operator, where it is one."""
    found = one.culprit
    if found is None:
        return (), None
    listed = ", ".join(
        f"operator {op} ({kind})" for op, kind in zip(found.ops[:_SHOWN], found.types, strict=False)
    )
    more = f" and {len(found.ops) - _SHOWN} more" if len(found.ops) > _SHOWN else ""
    fact = Evidence(f"a model of only {listed}{more} {found.how}", "bisection")
    single = len(found.ops) == 1
    return (fact,), OpPlace(subgraph=0, index=found.ops[0], type=found.types[0]) if single else None


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
    ends = [words for count, words in ((before, "before"), (behind, "after")) if count]
    yield Remedy(
        f"run operators {first} to {last} as a separate model, and those {' and '.join(ends)} on the CPU",
        Tag.CHANGES_MODEL,
        effect=f"the accelerator then takes all {plural(len(one.taken), 'operator')} in one partition",
        command=command("outlive cut", coverage.path, "--ops", f"{first}:{last + 1}", "-o", "part.tflite"),
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
            return f"takes {would.ops_taken} of {one.ops_total} in {parts}"
    return ""
