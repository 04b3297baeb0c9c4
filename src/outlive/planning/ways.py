"""Other ways to run a model that would fit: other settings, a smaller batch or picture, each planned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from outlive.arena.arena_size import arena_for
from outlive.arena.budget import Budget, Way, weigh
from outlive.arena.planners import Prepare, answer
from outlive.arena.questions import PlanRequest, Shape, input_shapes
from outlive.model import Model, Tensor
from outlive.units import format_shape

_HALVINGS = 4
_LEAST_SIDE = 8

# What is changed, and the changed wish.
Variant = tuple[str, PlanRequest]


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
    # A file that is too large for the flash is so in every way: that is told on its own.
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
