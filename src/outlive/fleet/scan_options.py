"""What a scan does with every file, and the task of one file."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib import metadata
from typing import Any

from outlive.arena.devices import Device, find_device
from outlive.interpreter.interpreter_options import ACCELERATORS
from outlive.process.limits import Limits
from outlive.rules import choose_rules

# What a row says depends on these; another version may say something else.
_PACKAGES = ("outlive", "ai-edge-litert", "ai-edge-litert-nightly", "numpy")


class EngineError(ValueError):
    """The engine that was asked for is not to be had, or is gone; the text says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanOptions:
    """What is to be found out about every file.

    `memory_bytes` is what models that run may add on one machine, one or several; None is what it has.
    """

    devices: tuple[Device, ...] = ()
    run: bool = False
    delegates: bool = False
    accelerator: str = "cpu"
    repeat: int = 5
    seconds: float = 30.0
    memory_bytes: int | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """A digest of all that decides what a row says, beside the file: wishes, versions, this machine."""
        wishes = asdict(self)
        place: list[object] = [platform.machine()]
        if self.run or self.delegates:
            place += [platform.node(), os.cpu_count()]
        else:
            wishes["memory_bytes"] = None  # nothing is run that could need it
        text = json.dumps([wishes, versions(), place], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanTask:
    """One file's turn. `path` is as the user gave it, `place` where it is, wherever the task is done.

    `sha256` is empty if the coordinator could not read the file.
    """

    number: int
    path: str
    place: str
    name: str
    sha256: str
    order: ScanOptions
    order_key: str
    owner: int = 0  # the process that waits for it, where it is on the same machine


@cache
def versions() -> dict[str, str]:
    """The versions of what takes part, as installed here."""
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def make_options(
    devices: Sequence[str | Device] = (), memory: str | int | None = None, **others: Any
) -> ScanOptions:
    """The options in a user's words; ValueError for unknown devices and rules, and for bad numbers."""
    found = {one.name: one for one in (find_device(d) if isinstance(d, str) else d for d in devices)}
    made = ScanOptions(devices=tuple(found.values()), **others)
    choose_rules(made.select, made.ignore)
    limits = Limits(memory=memory, seconds=made.seconds)
    if made.repeat < 1:
        raise ValueError(f"a run needs at least one call, not {made.repeat}")
    if made.accelerator not in ACCELERATORS:
        known = ", ".join(ACCELERATORS)
        raise ValueError(f"there is no accelerator {made.accelerator!r}; say one of {known}")
    return replace(made, memory_bytes=limits.memory_bytes)
