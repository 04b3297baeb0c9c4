"""Whether a plan fits, with the findings; and runs that cannot fit their limit, found before they start."""

import shlex
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from outlive.arena.budget import Budget, Verdict, Way, arena_for, certain_bytes, device_budget, weigh
from outlive.arena.devices import Device
from outlive.arena.plan import Plan
from outlive.arena.planners import Prepare, answer
from outlive.arena.questions import PlanRequest, Shape, choose_abi, input_shapes
from outlive.finding import Finding
from outlive.interpreter.interpreter_options import ACCELERATORS
from outlive.meter import MachineMemory, read_machine
from outlive.model import Model, Tensor, read_source
from outlive.planning.planner import prepare_with
from outlive.process.flight import Flight
from outlive.rules import judge
from outlive.rules.memory_verdict import had
from outlive.rules.plan_facts import facts
from outlive.units import format_bytes, format_shape, parse_bytes

_HALVINGS = 4
_LEAST_SIDE = 8

# What is changed, and the changed question.
Variant = tuple[str, PlanRequest]


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


def find_budget(ram: str | int | None, device: Device | None, here: bool = False) -> Budget | None:
    """The memory of a device, of this process, or a size; None if none of them is given."""
    if sum((ram is not None, device is not None, here)) > 1:
        raise ValueError("pass only one of ram, device and here")
    if device is not None:
        return device_budget(device)
    if here:
        return here_budget()
    if ram is None:
        return None
    size = parse_bytes(ram) if isinstance(ram, str) else int(ram)
    if size <= 0:
        raise ValueError("ram must be larger than 0 bytes")
    options = ("--ram", str(ram))
    return Budget(kind="ram", title="the RAM limit", ram_bytes=size, source="--ram", options=options)


def question_on(
    device: Device | None,
    accelerator: str | None = None,
    word: int | None = None,
    abi: str | None = None,
    kernels: str | None = None,
    **settings: Any,
) -> PlanRequest:
    """The question for a plan on a device, which decides what is not given; without one, on this machine."""
    if device is not None and device.is_micro:
        if accelerator not in (None, "tflm"):
            title = f"{device.title} runs TensorFlow Lite Micro"
            raise ValueError(f"{title}: leave the accelerator {accelerator} out")
        accelerator, kernels = "tflm", kernels or device.kernels
        abi = abi or (None if word else device.abi or None)
    abi, kernels = choose_abi(word, abi), kernels or "reference"
    return PlanRequest(accelerator=accelerator or "cpu", abi=abi, kernels=kernels, **settings)


def here_budget(machine: MachineMemory | None = None) -> Budget:
    """What this process may use: the smallest of RAM, cgroup and rlimits."""
    machine = machine or read_machine()
    usable = machine.usable_bytes()
    if usable is None:
        raise ValueError("this system does not report its memory; pass --ram")
    swap = machine.swap_total_bytes
    beside = f"; {format_bytes(swap)} of swap are not counted" if swap else ""
    where = f", in a container ({machine.container})" if machine.container else ""
    # What is free at this moment, in the machine and in the cgroup.
    left = [machine.available_bytes]
    if machine.cgroup_limit_bytes is not None and machine.cgroup_used_bytes is not None:
        left.append(max(0, machine.cgroup_limit_bytes - machine.cgroup_used_bytes))
    return Budget(
        kind="here",
        title="this process",
        ram_bytes=usable,
        source=f"limited by {machine.limited_by()}{where}{beside}",
        options=("--here",),
        free_bytes=min((size for size in left if size is not None), default=None),
    )


def hopeless(model: Model, wish: PlanRequest, limit_bytes: int) -> Finding | None:
    """The finding for a run that cannot fit its limit for certain; None if it may."""
    # No worker is asked whether it should be run; only then, what would fit.
    plan = answer(model, wish, lambda resized: ({}, "not asked"))
    if plan.needs_runtime_shapes or certain_bytes(plan) <= limit_bytes:
        return None
    budget = Budget(kind="limit", title="the run", ram_bytes=limit_bytes, source="limits")
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
    budget = Budget(kind="limit", title="the available memory", ram_bytes=room_bytes, source="limits")
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


def find_ways(model: Model, wish: PlanRequest, budget: Budget, prepare: Prepare) -> tuple[Way, ...]:
    """Other ways that would fit: other settings, and the largest smaller batch or picture."""
    ways = [way for way in (_try(model, *item, budget, prepare) for item in _settings(wish)) if way]
    for item in _smaller(model, wish):
        way = _try(model, *item, budget, prepare, changes_results=True)
        if way:
            return (*ways, way)
    return tuple(ways)


def options_of(wish: PlanRequest) -> tuple[str, ...]:
    """The words of a command line that ask for this."""
    plain = PlanRequest()
    words = [] if wish.accelerator == plain.accelerator else ["--accelerator", wish.accelerator]
    for name, shape in wish.inputs.items():
        words += ["--input", f"{name}={format_shape(shape)}"]
    for name in ("batch", "threads", "abi", "kernels"):
        if getattr(wish, name) != getattr(plain, name):
            words += [f"--{name}", str(getattr(wish, name))]
    for name in ("preserve_all_tensors", "weight_cache"):
        if getattr(wish, name):
            words.append("--" + name.replace("_", "-"))
    return tuple(words)


def _try(
    model: Model,
    what: str,
    wish: PlanRequest,
    budget: Budget,
    prepare: Prepare,
    changes_results: bool = False,
) -> Way | None:
    try:
        plan = answer(model, wish, prepare)
    except ValueError:
        return None
    # A file that is too large for the flash is so in every way: another finding says that.
    verdict = weigh(plan, replace(budget, flash_bytes=None), arena=arena_for(model, plan, wish.abi))
    if verdict.needed_bytes is None or not verdict.fits:
        return None
    options = options_of(wish)
    return Way(what=what, options=options, needed_bytes=verdict.needed_bytes, changes_results=changes_results)


def _settings(wish: PlanRequest) -> Iterator[Variant]:
    """Settings that give the same results (kernels differ in the last bits)."""
    cpu = {"accelerator": "cpu", "weight_cache": False}
    options: tuple[tuple[str, dict[str, Any]], ...] = (
        ("use LiteRT's builtin kernels", {"accelerator": "builtin", "weight_cache": False}),
        ("use XNNPACK", cpu),
        ("use XNNPACK and keep packed weights in a mapped file", {**cpu, "weight_cache": True}),
    )
    if wish.accelerator == "tflm":
        options = (("build with the reference kernels", {"kernels": "reference"}),)
    for what, changes in options:
        other = replace(wish, preserve_all_tensors=False, **changes)
        if other != wish:
            yield what, other


def _smaller(model: Model, wish: PlanRequest) -> Iterator[Variant]:
    """Batches and pictures, each half of the one before."""
    shapes = {tensor.index: tensor.shape for tensor in model.inputs} | input_shapes(model, wish)
    batch = max((shape[0] for shape in shapes.values() if shape), default=1)
    for _ in range(_HALVINGS if batch > 1 else 0):
        batch = max(1, batch // 2)
        yield f"run with a batch of {batch}", replace(wish, batch=batch)
    pictures = [tensor for tensor in model.inputs if len(shapes[tensor.index]) == 4]
    if pictures:
        picture = max(pictures, key=lambda tensor: tensor.size_bytes or 0)
        yield from _smaller_pictures(picture, shapes[picture.index], wish)


def _smaller_pictures(picture: Tensor, shape: Shape, wish: PlanRequest) -> Iterator[Variant]:
    for halving in range(1, _HALVINGS + 1):
        high, wide = shape[1] >> halving, shape[2] >> halving
        if min(high, wide) < _LEAST_SIDE:
            return
        inputs = {**wish.inputs, picture.name: (shape[0], high, wide, shape[3])}
        yield f"run at {high}x{wide}", replace(wish, inputs=inputs)
