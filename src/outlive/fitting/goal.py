"""What is asked of a search, in a user's words: sizes, devices, shares; ValueError for what cannot be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from outlive.arena.budget import Budget, device_budget
from outlive.arena.devices import Device, find_device
from outlive.arena.questions import PlanRequest, check_shape, choose_abi, input_shapes, parse_input
from outlive.fitting.fit_result import Fit, Shape
from outlive.fitting.reconversion import Origin
from outlive.fitting.search import Goal, search
from outlive.guarding.guarded import Guarded
from outlive.model import Model, read_source
from outlive.planning.reshaping import cut_part
from outlive.surgery import CutRequest
from outlive.units import parse_bytes

_ACCELERATORS = ("cpu", "builtin", "reference", "tflm")


def make_goal(
    *,
    ram: str | int | None = None,
    device: str | Device | None = None,
    flash: str | int | None = None,
    accelerator: str | None = None,
    threads: int | None = None,
    max_loss: str | float | None = None,
    seconds: float | None = None,
    jobs: int | None = None,
    metric: Any = None,
    **others: Any,
) -> Goal:
    """The goal of a search from a user's words; `others` are fields of `Goal` as they are."""
    if (ram is None) == (device is None):
        raise ValueError("say how much memory there is: an amount of RAM, or a device (and not both)")
    if accelerator is not None and accelerator not in _ACCELERATORS:
        raise ValueError(
            f"there is no accelerator {accelerator!r:.40}; choose one of {', '.join(_ACCELERATORS)}"
        )
    if seconds is not None and not seconds > 0:
        raise ValueError(f"{seconds:g} seconds have passed already; give more than 0")
    if jobs is not None and jobs < 1:
        raise ValueError(f"{jobs} candidates at once are none; give 1 or more")
    found = find_device(device) if isinstance(device, str) else device
    if found is not None and found.is_micro and accelerator not in (None, "tflm"):
        raise ValueError(f"{found.title} runs TensorFlow Lite Micro: leave {accelerator} out")
    budget = device_budget(found) if found is not None else _granted(ram)
    if flash is not None:
        budget = replace(budget, flash_bytes=_size(flash, "flash"))
    return Goal(
        budget=budget,
        wish=_wish(found, accelerator, threads),
        metric=check_metric(metric),
        max_loss=None if max_loss is None else parse_share(max_loss),
        accelerator=accelerator,
        seconds=seconds,
        jobs=jobs,
        **others,
    )


def fit_model(
    model: Model,
    goal: Goal,
    batch: int | None,
    inputs: Mapping[str, Sequence[int] | str] | Sequence[str],
    source: Any = None,
) -> Fit:
    """What fits of a model, with other inputs to begin with if they are asked for.

    `source` is what it was converted from, if it was: shapes that it does not take are made from that.
    """
    origin = None if source is None else Origin(source=source, model=model, judge=goal.judge)
    named = inputs if isinstance(inputs, Mapping) else dict(map(parse_input, inputs))
    wish = PlanRequest(batch=batch, inputs={name: check_shape(shape) for name, shape in named.items()})
    shapes = input_shapes(model, wish)
    if shapes:
        reshaped = read_source(_started(model, shapes, origin, goal)).model
        assert reshaped is not None, "a part that was cut can be read"
        goal = replace(goal, source=goal.source or model.path or "")
        model = reshaped
    return search(model, goal, origin)


def _started(model: Model, shapes: Mapping[int, Shape], origin: Origin | None, goal: Goal) -> bytes:
    """The file to start from; converted again where it does not take the shapes, and can be."""
    try:
        part = cut_part(model, CutRequest(input_shapes=dict(shapes.items())))
        if part.shapes_from != "runtime":
            raise ValueError("; ".join(part.state) or "the runtime does not take these shapes")
        return part.model
    except ValueError as error:
        if origin is None:
            raise
        wanted = [shapes.get(tensor.index, tensor.shape) for tensor in model.inputs]
        guard = partial(Guarded, judge=goal.judge, seconds=goal.seconds, quiet=True)
        try:
            return origin.convert(wanted, goal.result_cache(), guard)
        except ValueError as second:
            raise ValueError(f"{second}; nor does its .tflite: {error}") from second


def parse_share(given: str | float) -> float:
    """A share such as `1%` or 0.01; ValueError for what is none."""
    text = str(given).strip()
    try:
        value = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise ValueError(f"{text[:40]!r} is no share; write it as 1% or 0.01") from None
    if not 0 <= value <= 1:
        raise ValueError(f"a loss is between 0% and 100%, not {text[:40]}")
    return value


def check_metric(metric: Any) -> Any:
    """A metric that can be used; ValueError for one that is neither a function nor `file.py:name`."""
    if metric is None or callable(metric):
        return metric
    path, colon, name = str(metric).rpartition(":")
    if not colon or not path.endswith(".py") or not name.isidentifier():
        raise ValueError(f"{str(metric)[:80]!r} names no metric; write it as file.py:function")
    try:
        with open(path, "rb"):
            return str(metric)
    except OSError as error:
        raise ValueError(f"the metric's file {path[:200]!r} cannot be read: {error.strerror}") from error


def _wish(device: Device | None, accelerator: str | None, threads: int | None) -> PlanRequest:
    if device is not None and device.is_micro:
        return PlanRequest(
            accelerator="tflm", abi=choose_abi(None, device.abi or None), kernels=device.kernels
        )
    return PlanRequest(accelerator=accelerator or "cpu", threads=threads)


def _granted(ram: str | int | None) -> Budget:
    size = _size(ram, "RAM")
    options = ("--ram", str(ram))
    return Budget(kind="ram", title="the RAM granted", ram_bytes=size, source="--ram", options=options)


def _size(given: str | int | None, what: str) -> int:
    size = parse_bytes(given) if isinstance(given, str) else int(given or 0)
    if size <= 0:
        raise ValueError(f"{what} of {size} bytes leaves no room at all")
    return size
