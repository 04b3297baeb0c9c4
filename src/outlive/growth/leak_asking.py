"""What is to be repeated: a function, a function of a script, or the cycles of a model."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from outlive.arena.devices import Device, find_device
from outlive.growth.growth import UNCLEAR, Growth, Stage
from outlive.growth.growth_verdict import Room
from outlive.growth.leak_running import Order, find_room, measure_stage
from outlive.guarding.raised import WorkerTraceback
from outlive.interpreter.options import ACCELERATORS
from outlive.process.flight import Flight
from outlive.units import parse_bytes

CYCLES = ("load", "invoke", "resize")
# The runtime's own functions, as they stand in a traceback, and what we call that stage.
_STEPS = {"invoke": "invoke", "set_tensor": "set", "allocate_tensors": "allocate"}
Target = tuple[str, Any]  # the cycle's name, and what a worker repeats


def find_targets(
    source: Any, cycle: str, *, accelerator: str = "cpu", threads: int | None = None, runtime: str = "litert"
) -> tuple[str, tuple[Target, ...]]:
    """What it is called, and what workers repeat; ValueError for what cannot be repeated."""
    if cycle not in (*CYCLES, "all"):
        raise ValueError(f"there is no cycle {cycle!r}; there are {', '.join(CYCLES)} and all")
    if accelerator not in ACCELERATORS:
        raise ValueError(f"there is no accelerator {accelerator!r}; there are {', '.join(ACCELERATORS)}")
    if callable(source):
        return _function_name(source), (("call", source),)
    if isinstance(source, str) and ".py::" in source:
        return source, (("call", _script(source)),)
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if path.endswith(".py"):
            raise ValueError(f"say which function of it is to be repeated: {path}::function")
        with open(path, "rb"):
            pass  # the system's own words for a file that cannot be read
        what, opened = path, dict[str, Any](model_path=os.path.abspath(path))
    else:
        what, opened = "the given bytes", {"model_content": bytes(source)}
    model = {**opened, "resolver": ACCELERATORS[accelerator].name, "num_threads": threads}
    cycles = CYCLES if cycle == "all" else (cycle,)
    return what, tuple((name, {"model": model, "cycle": name, "runtime": runtime}) for name in cycles)


def _function_name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__qualname__", None) or type(function).__qualname__)


def _script(source: str) -> dict[str, str]:
    path, _, name = source.rpartition("::")
    if not os.path.isfile(path):
        raise ValueError(f"there is no file {path}")
    if not name.isidentifier():
        raise ValueError(f"{name!r} is no name of a function; write it as {path}::function")
    return {"script": os.path.abspath(path), "function": name}


def choose_room(ram: str | int | None, device: str | Device | None) -> Room:
    """What there is to be had: of memory the size given, a device's, or this machine's or container's."""
    if ram is not None and device is not None:
        raise ValueError("give an amount of RAM or a device, not both")
    if device is not None:
        found = find_device(device) if isinstance(device, str) else device
        return find_room(found.ram_bytes, found.title)
    if ram is None:
        return find_room()
    size = parse_bytes(ram) if isinstance(ram, str) else ram
    if size <= 0:
        raise ValueError(f"{size} bytes of RAM are none at all")
    return find_room(size, "as asked for")


def measure_growth(
    what: str, targets: tuple[Target, ...], order: Order, tell: Callable[[str, Stage], None]
) -> Growth:
    """Repeat each target in a worker of its own; a model that gets through no round is given up."""
    stages: list[Stage] = []
    for cycle, target in targets:
        stages.append(_measure(cycle, target, order, tell))
        if stages[-1].flight is not None and not stages[-1].calls:
            break
    return Growth(what=what, stages=tuple(stages))


def _measure(cycle: str, target: Any, order: Order, tell: Callable[[str, Stage], None]) -> Stage:
    try:
        return measure_stage(target, cycle, order, lambda stage: tell(cycle, stage))
    except Exception as error:
        if cycle == "call" or not isinstance(error.__cause__, WorkerTraceback):
            raise
        return _refused(cycle, error, error.__cause__.text)


def _refused(cycle: str, error: Exception, trace: str) -> Stage:
    """A model that the runtime does not take: the record that the rules on flights know."""
    text = str(error)
    step = next((name for word, name in _STEPS.items() if f"in {word}\n" in trace), "load")
    flight = Flight(died=False, stage=step, error_type=type(error).__name__, error_text=text)
    said = " ".join(text.split())[:200] or "without a word"
    return Stage(cycle=cycle, verdict=UNCLEAR, problem=f"the runtime refused it: {said}", flight=flight)
