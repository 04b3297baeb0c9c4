"""What is asked of every file, in a user's words."""

from __future__ import annotations

from collections.abc import Sequence

from outlive.arena.devices import Device, find_device
from outlive.fleet.nouns import Order
from outlive.interpreter.options import ACCELERATORS
from outlive.process.limits import Limits
from outlive.rules.catalogue import choose_rules


def make_order(
    devices: Sequence[str | Device] = (),
    run: bool = False,
    delegates: bool = False,
    *,
    memory: str | int | None = None,
    repeat: int = 5,
    seconds: float = 30.0,
    accelerator: str = "cpu",
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> Order:
    """The order; ValueError for devices, rules and numbers that there are not."""
    choose_rules(select, ignore)
    limits = Limits(memory=memory, seconds=seconds)
    if repeat < 1:
        raise ValueError(f"a run needs at least one call, not {repeat}")
    if accelerator not in ACCELERATORS:
        raise ValueError(f"there is no accelerator {accelerator!r}; say one of {', '.join(ACCELERATORS)}")
    found = {one.name: one for one in (find_device(d) if isinstance(d, str) else d for d in devices)}
    return Order(
        devices=tuple(found.values()),
        run=run,
        delegates=delegates,
        accelerator=accelerator,
        repeat=repeat,
        seconds=seconds,
        memory_bytes=limits.memory_bytes,
        select=tuple(select),
        ignore=tuple(ignore),
    )
