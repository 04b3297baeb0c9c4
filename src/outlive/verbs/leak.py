"""`leak`: whether something grows when it is repeated."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from outlive.arena.devices import Device
from outlive.growth.growth import CycleGrowth, Growth
from outlive.growth.measurement import LeakSettings, choose_room, find_targets, measure_growth
from outlive.guarding.worker_errors import WorkerTraceback
from outlive.model import Model, Source
from outlive.process.limits import Limits
from outlive.rules import judge
from outlive.verbs.judging import JUDGE
from outlive.verbs.progress import heard
from outlive.verbs.read import read


@heard
def leak(
    function_or_model: Callable[[], Any] | Source | Model,
    cycle: str = "all",
    repeat: int | None = None,
    *,
    seconds: float = 120.0,
    ram: str | int | None = None,
    device: str | Device | None = None,
    memory: str | int | None = None,
    accelerator: str = "cpu",
    threads: int | None = None,
    runtime: str = "litert",
    tell: Callable[[str, CycleGrowth], None] = lambda cycle, stage: None,
) -> Growth:
    """Find out whether a model or a function leaks memory: `.verdict`, `.bytes_per_iteration`, `.stages`.

    Give a function without arguments, "script.py::function", or a model, whose `cycle` is "load" (open,
    allocate, run, free), "invoke", "resize" or "all". A worker repeats it until the verdict is clear or
    `seconds` have passed, or exactly `repeat` times. `ram` or `device` is the memory to fill (default: that
    of this machine or container), `memory` the most that the worker may add. `accelerator`, `threads` and
    `runtime` are for models, as for `run`. If it dies, the result has what was measured before.

    >>> growth = outlive.leak("healthy.tflite", "invoke", repeat=100)
    >>> growth
    Growth(healthy.tflite: no leak above ... per round, after 100 rounds)
    >>> growth["invoke"].verdict
    'no leak'
    """
    source = function_or_model.content if isinstance(function_or_model, Model) else function_or_model
    what, targets = find_targets(source, cycle, accelerator=accelerator, threads=threads, runtime=runtime)
    if targets[0][0] != "call" and not callable(function_or_model):
        read(function_or_model, tolerant=True)  # it says better than a runtime what is wrong
    limit = Limits(memory=memory, seconds=seconds)
    room = choose_room(ram, device)
    order = LeakSettings(
        judge=JUDGE, repeat=repeat, seconds=seconds, memory_bytes=limit.memory_bytes, room=room
    )
    return _judged(measure_growth(what, targets, order, tell))


def traceback_of(error: BaseException) -> str:
    """The traceback of what the repeated function itself raised, in its worker; empty for another error."""
    return error.__cause__.text if isinstance(error.__cause__, WorkerTraceback) else ""


def _judged(growth: Growth) -> Growth:
    """The same growth with one finding for each death, then what the rules on growth say."""
    source = growth.what if growth.what.endswith(".tflite") else None
    ends = [stage.flight for stage in growth.stages if stage.flight is not None]
    deaths = [JUDGE.find("flight", flight, source)[0] for flight in ends]
    found = judge({"growth": growth})
    return replace(growth, findings=(*dict.fromkeys(deaths), *found))
