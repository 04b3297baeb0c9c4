"""Whether a plan fits, with the findings; and runs that cannot fit their limit, told before they start."""

from __future__ import annotations

from collections.abc import Mapping

from outlive.arena.asking import answer
from outlive.arena.budget import Budget, Verdict, certain_bytes, weigh
from outlive.arena.plan import Plan
from outlive.arena.questions import Wish
from outlive.arena.room import arena_for
from outlive.finding import Finding
from outlive.fitting.planning import prepare_with
from outlive.fitting.ways import find_ways
from outlive.meter import MachineMemory, read_machine
from outlive.model import Model
from outlive.rules import judge
from outlive.rules.catalogue import RULES
from outlive.units import format_bytes

_FACTS = ("plan", "verdict")


def judge_fit(model: Model, wish: Wish, plan: Plan, budget: Budget) -> Verdict:
    """The verdict; where it does not fit, or may not, with the ways that would."""
    arena = arena_for(model, plan, wish.abi)
    verdict = weigh(plan, budget, arena=arena)
    if verdict.fits or verdict.word == "refused":
        return verdict
    return weigh(plan, budget, find_ways(model, wish, budget, prepare_with(model, wish)), arena)


def judge_plan(plan: Plan, verdict: Verdict | None = None) -> tuple[Finding, ...]:
    """What the rules say about a plan, and about its verdict if there is one."""
    facts: Mapping[str, object] = {"plan": plan, "verdict": verdict}
    return judge(facts, [rule for rule in RULES if set(rule.facts) <= set(_FACTS)]).findings


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


def hopeless(model: Model, wish: Wish, limit_bytes: int) -> Finding | None:
    """The finding for a run that cannot fit its limit for certain; None if it may."""
    # Nothing is run to find out whether something should be run.
    plan = answer(model, wish, lambda resized: ({}, "not asked"))
    if plan.needs_runtime_shapes or certain_bytes(plan) <= limit_bytes:
        return None
    budget = Budget(kind="limit", title="the limit of the run", ram_bytes=limit_bytes, source="limits")
    return next((item for item in judge_plan(plan, weigh(plan, budget)) if item.code == "M205"), None)


def _free(machine: MachineMemory) -> int | None:
    """What is free at this moment, in the machine and in the cgroup."""
    left = [machine.available_bytes]
    if machine.cgroup_limit_bytes is not None and machine.cgroup_used_bytes is not None:
        left.append(max(0, machine.cgroup_limit_bytes - machine.cgroup_used_bytes))
    return min((size for size in left if size is not None), default=None)
