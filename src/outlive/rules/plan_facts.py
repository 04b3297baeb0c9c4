"""Words that rules on plans share: where it is worst, what is needed, and which ways were planned and fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from outlive.arena.budget import Budget, Verdict, seen_bytes, worst_moment
from outlive.arena.plan import Part, Plan
from outlive.finding import Evidence, Remedy, Tag
from outlive.rules.wording import command, file_name
from outlive.units import format_bytes

_TENSORS = 3


def place(plan: Plan) -> str:
    """The file, and the operator at which the most is alive."""
    moment = worst_moment(plan)
    if moment is None:
        return file_name(plan.path)
    load = next(load for load in plan.ops if load.index == moment[0])
    return f"{file_name(plan.path)}, peak at operator {load.index}, {load.type}"


def facts(plan: Plan) -> dict[str, Any]:
    """What a plan says of its peak, as plain data that the record of a run can hold."""
    known = {
        "needed_bytes": plan.peak_bytes,
        "bound": "exact" if plan.exact else getattr(plan, "bound", "estimate"),
        "accelerator": plan.accelerator,
        "parts": [{"name": part.name, "bytes": part.bytes} for part in _largest_parts(plan)],
    }
    moment = worst_moment(plan)
    if moment is None:
        return known
    load = next(load for load in plan.ops if load.index == moment[0])
    alive = [{"name": item.name, "bytes": item.size_bytes} for item in moment[1]]
    op = {"index": load.index, "type": load.type, "live_bytes": load.live_bytes}
    return {**known, "op": op, "alive": alive}


def amounts(plan: Plan, needed: int) -> tuple[Evidence, ...]:
    """What is needed, with the parts it is made of."""
    what = "smallest arena" if plan.accelerator == "tflm" else "planned peak"
    if seen_bytes(plan) == needed:
        what = "measured peak"
    elif plan.bound == "lower":
        what += " of at least"
    rest = ", ".join(f"{part.name} {format_bytes(part.bytes)}" for part in _largest_parts(plan))
    total = Evidence(f"{what} {format_bytes(needed)} ({needed:,} bytes)", f"plan, {plan.accelerator}")
    return (total, Evidence(f"including {rest}", "plan")) if rest else (total,)


def memory_there(budget: Budget) -> Evidence:
    """How much memory there is, and who says so."""
    size = budget.ram_bytes
    return Evidence(f"available {format_bytes(size, size)} ({size:,} bytes), {budget.title}", budget.source)


def _largest_parts(plan: Plan) -> list[Part]:
    return sorted((part for part in plan.parts if part.bytes), key=lambda part: -part.bytes)[:3]


def worst(plan: Plan) -> tuple[Evidence, ...]:
    """The largest tensors alive at the worst moment."""
    moment = worst_moment(plan)
    if moment is None or not moment[1]:
        return ()
    shown = ", ".join(
        f"{item.name or f'tensor {item.tensor}'} {format_bytes(item.size_bytes)}"
        for item in moment[1][:_TENSORS]
    )
    return (Evidence(f"alive at operator {moment[0]}: {shown}", "plan"),)


def need_and_memory(verdict: Verdict) -> str:
    """How much the model needs, and how much there is."""
    needed, there = verdict.needed_bytes or 0, verdict.budget.ram_bytes
    least = "at least " if verdict.plan.bound == "lower" else ""
    holds = f"{verdict.budget.title} has" if verdict.budget.kind != "ram" else "available"
    return f"needs {least}{format_bytes(needed, there)}, {holds} {format_bytes(there, there)}"


def ways(verdict: Verdict) -> Iterator[Remedy]:
    """What would fit, as it was planned; without that, what to try."""
    path = verdict.plan.path
    for way in verdict.ways:
        yield Remedy(
            way.what,
            Tag.CHANGES_RESULTS if way.changes_results else Tag.SAME_RESULTS,
            effect=f"needs {format_bytes(way.needed_bytes, verdict.budget.ram_bytes)}",
            command=command("outlive plan", path, *way.options, *verdict.budget.options),
        )
    if verdict.word == "does not fit" and not verdict.ways:
        yield Remedy(
            "quantize the model to 8-bit integers, or use fewer channels at its peak",
            Tag.CHANGES_RESULTS,
        )


def run_command(plan: Plan, *words: str) -> str:
    """The command that runs the model as it was planned."""
    kernels = () if plan.accelerator == "cpu" else ("--accelerator", plan.accelerator)
    return command("outlive run", plan.path, *kernels, *words)
