"""`check`: what is wrong with a model, found without running it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from outlive.model import Model, Source
from outlive.verbs.read import reading_of

if TYPE_CHECKING:
    from outlive.arena.devices import Device
    from outlive.rules import Judgement


def check(
    source: Source | Model,
    *,
    device: str | Device | None = None,
    ram: str | int | None = None,
    inputs: Any = None,
    accelerator: str = "cpu",
    expect: str | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> Judgement:
    """What is wrong with a model, and what it wastes, found without running it: iterate over the findings.

    With a `device` or an amount of `ram` also whether it fits; with `inputs` (arrays by name, or in the
    model's order) whether those values are right for it; with `expect` ("int8", "int8-io", "uint8-io",
    "int16", "int16-io", "dynamic", "float16") whether it was quantized as it was to be. `select` and
    `ignore` are codes, starts of codes ("Q", "Q1") or names of rules. ValueError for rules, devices, inputs
    and expectations that there are not.
    """
    from outlive.fitting.checking import check_reading, make_order

    order = make_order(
        device=device,
        ram=ram,
        inputs=inputs,
        accelerator=accelerator,
        expect=expect,
        select=select,
        ignore=ignore,
    )
    return check_reading(reading_of(source), order).judgement
