"""Whether a plan fits, with the findings; and runs that cannot fit their limit, told before they start."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

from outlive.arena.arena_size import arena_for
from outlive.arena.budget import Budget, Verdict, certain_bytes, weigh
from outlive.arena.plan import Plan
from outlive.arena.planners import answer
from outlive.arena.questions import PlanRequest
from outlive.finding import Finding
from outlive.interpreter.interpreter_options import ACCELERATORS
from outlive.meter import MachineMemory, read_machine
from outlive.model import Model, read_source
from outlive.planning.ways import find_ways
from outlive.planning.with_worker import prepare_with
from outlive.process.flight import Flight
from outlive.rules import judge
from outlive.rules.memory_verdict import had
from outlive.rules.plan_facts import facts
from outlive.units import format_bytes


def judge_fit(model: Model, wish: PlanRequest, plan: Plan, budget: Budget) -> Verdict:
    """The verdict; where it does not fit, or may not, with the ways that would."""
    arena = arena_for(model, plan, wish.abi)
    verdict = weigh(plan, budget, arena=arena)
    if verdict.fits or verdict.word == "refused":
        return verdict
    return weigh(plan, budget, find_ways(model, wish, budget, prepare_with(model, wish)), arena)


def judge_plan(plan: Plan, verdict: Verdict | None = None) -> tuple[Finding, ...]:
    """What the rules say about a plan, and about its verdict if there is one."""
    return judge({"plan": plan, "verdict": verdict}).findings


def here_budget(machine: MachineMemory | None = None) -> Budget:
    """What this process may use: the smallest of RAM, cgroup and rlimits. ValueError if nobody says."""
    machine = machine or read_machine()
    usable = machine.usable_bytes()
    if usable is None:
        raise ValueError("this system does not say how much memory there is; give --ram")
    swap = machine.swap_total_bytes
    beside = f"; {format_bytes(swap)} of swap are not counted" if swap else ""
    where = f", in a container ({machine.container})" if machine.container else ""
    return Budget(
        kind="here",
        title="this process",
        ram_bytes=usable,
        source=f"limited by {machine.limited_by()}{where}{beside}",
        options=("--here",),
        free_bytes=_free(machine),
    )


def hopeless(model: Model, wish: PlanRequest, limit_bytes: int) -> Finding | None:
    """The finding for a run that cannot fit its limit for certain; None if it may."""
    # No worker is asked whether it should be run; only then, what would fit.
    plan = answer(model, wish, lambda resized: ({}, "not asked"))
    if plan.needs_runtime_shapes or certain_bytes(plan) <= limit_bytes:
        return None
    budget = Budget(kind="limit", title="the limit of the run", ram_bytes=limit_bytes, source="limits")
    ways = find_ways(model, wish, budget, prepare_with(model, wish))
    return next((item for item in judge_plan(plan, weigh(plan, budget, ways)) if item.code == "M205"), None)


def with_plan(flight: Flight, source: str | bytes) -> Flight:
    """The record of an end for want of memory with what the model needs by its plan, and what would fit."""
    if flight.planned:
        return flight
    room, wish, model = had(flight), _wish(flight), read_source(source).model
    if room is None or wish is None or model is None or model.flaws:
        return flight
    try:
        shapes = flight.resized or {}
        named = {tensor.name: shapes[tensor.index] for tensor in model.inputs if tensor.index in shapes}
        return replace(flight, planned=_planned_need(model, replace(wish, inputs=named), room.bytes))
    except Exception:  # what is known of the end is worth telling without its plan
        return flight


def _wish(flight: Flight) -> PlanRequest | None:
    """The question that a plan answers; None where other kernels than LiteRT's own ran it."""
    opened = flight.runtime.get("opened", {})
    kernels = {option.name: name for name, option in ACCELERATORS.items()} | {"BUILTIN": "cpu"}
    name = kernels.get(opened.get("kernels", ""))
    return None if name is None else PlanRequest(accelerator=name, threads=opened.get("threads"))


def _planned_need(model: Model, wish: PlanRequest, room_bytes: int) -> dict[str, Any]:
    """What the model needs, as plain data for the record of a run: the peak, its worst moment, what fits."""
    plan = answer(model, wish, prepare_with(model, wish))
    budget = Budget(kind="limit", title="the memory there was", ram_bytes=room_bytes, source="limits")
    if plan.peak_bytes is None:
        return {}
    ways = find_ways(model, wish, budget, prepare_with(model, wish)) if plan.peak_bytes > room_bytes else ()
    fitting = [
        {
            "what": way.what,
            "options": shlex.join(way.options),
            "needed_bytes": way.needed_bytes,
            "changes_results": way.changes_results,
        }
        for way in ways
    ]
    return {**facts(plan), "room_bytes": room_bytes, "ways": fitting}


def _free(machine: MachineMemory) -> int | None:
    """What is free at this moment, in the machine and in the cgroup."""
    left = [machine.available_bytes]
    if machine.cgroup_limit_bytes is not None and machine.cgroup_used_bytes is not None:
        left.append(max(0, machine.cgroup_limit_bytes - machine.cgroup_used_bytes))
    return min((size for size in left if size is not None), default=None)
