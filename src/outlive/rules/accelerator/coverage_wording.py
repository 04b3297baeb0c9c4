"""Words that the rules on accelerators share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from outlive.accelerators import Accelerator, Coverage, OpRefusal
from outlive.finding import Evidence, OpPlace, Remedy, Tag
from outlive.rules import wording as telling
from outlive.rules.wording import file_name
from outlive.units import plural

_SHOWN = 4
_INDICES = 6


def place(coverage: Coverage, one: Accelerator) -> str:
    """The file, and the accelerator it was tried on."""
    return f"{file_name(coverage.path)}, {one.name}"


def command(coverage: Coverage, *words: str) -> str:
    """A command about this file; empty for a model that was given as bytes."""
    return telling.command(" ".join(words[:2]), coverage.path, *words[2:])


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
            f"run it with {other.name}",
            Tag.SAME_RESULTS,
            effect=f"{other.milliseconds:,.2f} ms a run",
            command=command(coverage, "outlive", "run", "--accelerator", names.get(other.name, other.name)),
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
        yield Evidence(f"{kind}{f' (op {listed})' if ops else ''}: {reason}", source or "run")
    if len(groups) > _SHOWN:
        yield Evidence(f"{plural(len(groups) - _SHOWN, 'more reason')}", "run")


def culprit(one: Accelerator) -> tuple[tuple[Evidence, ...], OpPlace | None]:
    """What bisection found, as evidence; and the operator, where it is one."""
    found = one.culprit
    if found is None:
        return (), None
    listed = ", ".join(f"op {op} {kind}" for op, kind in zip(found.ops[:_SHOWN], found.types, strict=False))
    more = f" and {len(found.ops) - _SHOWN} more" if len(found.ops) > _SHOWN else ""
    fact = Evidence(f"a model of {listed}{more} and no others {found.how}", "bisection")
    single = len(found.ops) == 1
    return (fact,), OpPlace(subgraph=0, index=found.ops[0], type=found.types[0]) if single else None
