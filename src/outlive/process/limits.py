"""What a worker may use: memory above its baseline, and seconds for each call.

Which workers run in a sandbox of the operating system, what they may read there, and why others do not.

`child/sandbox.py` is the sandbox itself. "auto" has it for LiteRT on CPUs, as far as the system has it; "on"
insists on all of it; "off" does without.
"""

import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from outlive.meter import MachineMemory, read_machine
from outlive.process.worker_factory import WorkerKind
from outlive.units import format_bytes, parse_bytes

MODES = ("auto", "on", "off")
VARIABLE = "OUTLIVE_SANDBOX"


def choose_mode(given: str | None) -> str:
    """The mode that was given, or the environment's, or "auto"; ValueError for another word."""
    mode = given or os.environ.get(VARIABLE) or "auto"
    if mode not in MODES:
        source = "sandbox" if given else VARIABLE
        raise ValueError(f"{source} is 'auto', 'on' or 'off', not {mode!r}")
    return mode


def make_settings(
    mode: str,
    kind: WorkerKind,
    model_path: str | None,
    delegates: Sequence[tuple[str, Any]],
    custom_ops: Sequence[str] | None,
    compiled: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """The settings for a worker: the files that it may read, or why it has no sandbox."""
    compiled = compiled or {}
    reason = "it was switched off" if mode == "off" else ""
    if mode == "auto":
        reason = _needs_more(kind, delegates, custom_ops, compiled)
    if reason:
        return {"off": reason}
    libraries = (*(library for library, _ in delegates), *compiled.get("libraries", ()))
    return {"read": [path for path in (model_path, *libraries) if path]}


def is_whole(applied: dict[str, Any]) -> bool:
    """True if a worker said that it is under all parts of the sandbox."""
    sandbox = applied.get("sandbox", {})
    return bool(sandbox.get("parts")) and not sandbox.get("why")


def _needs_more(
    kind: WorkerKind, delegates: Sequence[Any], custom_ops: Sequence[str] | None, compiled: Mapping[str, Any]
) -> str:
    """Why a worker needs more than the sandbox allows; empty for LiteRT on the CPU."""
    beyond = [name for name in compiled.get("accelerators", ()) if name != "CPU"]
    options = compiled.get("options", {}).get("cpu_options", {})
    reasons = {
        "a delegate library may need devices and files of its own": delegates,
        "custom operators may need files of their own": custom_ops,
        f"{' and '.join(beyond)} may need devices and drivers": beyond,
        "a weight cache is written to a file": options.get("xnnpack_weight_cache_path"),
        f"what {kind.runtime} needs is not known": kind.runtime != "litert",
        "what another Python needs is not known": kind.python != sys.executable,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


# What the default limit leaves to the parent where memory that runs out may end it too: as little as the
# watchdog needs to see a worker that fills memory as fast as it can before the container is full.
_KEPT_SHARE = 0.05
_KEPT_BYTES = 50_000_000
# What is left is an estimate, and the system finds more when it has to: with less than this even a small
# model that would run well is ended.
_LEAST_BYTES = 200_000_000
_FRESH_S = 1.0


class DeadlineMissed(Exception):
    """The worker did not answer in time."""


@dataclass(frozen=True, slots=True, init=False)
class Limits:
    """Limits of a run. `memory` is what the model may add in private memory: "512MB", or bytes."""

    memory_bytes: int | None
    seconds: float | None

    def __init__(self, memory: str | int | None = None, seconds: float | None = None) -> None:
        """Take sizes as people write them; None means the machine's own limit, or no deadline."""
        size = parse_bytes(memory) if isinstance(memory, str) else memory
        if size is not None and size <= 0:
            raise ValueError(f"a memory limit of {size} bytes leaves no memory")
        if seconds is not None and not seconds > 0:
            raise ValueError(f"a deadline of {seconds} seconds has passed already")
        object.__setattr__(self, "memory_bytes", size)
        object.__setattr__(self, "seconds", seconds)

    def effective_memory_bytes(self) -> int | None:
        """The limit asked for, or what this machine or container has left."""
        return _usual()[0] if self.memory_bytes is None else self.memory_bytes

    def to_request(self) -> dict[str, int | None]:
        """The limits for the process that starts workers: to keep, asked for by the user, left in all.

        Only a limit that the user asked for refuses memory that is reserved and not used. The limit of the
        worker's cgroup does not exceed what is left in all.
        """
        if self.memory_bytes is not None:
            return {"memory_bytes": self.memory_bytes, "asked_bytes": self.memory_bytes, "left_bytes": None}
        usual, left = _usual()
        return {"memory_bytes": usual, "asked_bytes": None, "left_bytes": left}

    def to_json(self) -> dict[str, object]:
        """As a flight records it."""
        return {"memory_bytes": self.memory_bytes, "seconds": self.seconds}

    def __str__(self) -> str:
        """In words."""
        memory = "the machine's" if self.memory_bytes is None else format_bytes(self.memory_bytes)
        return f"memory {memory}, {'no deadline' if self.seconds is None else f'{self.seconds:g} s a call'}"


_read: list[tuple[float, int | None, int | None]] = []


def _usual() -> tuple[int | None, int | None]:
    """The default and what is left, read anew when old: that takes a quarter of a worker's start."""
    now = time.monotonic()
    if not _read or now - _read[0][0] > _FRESH_S:
        machine = read_machine()
        _read[:] = [(now, default_memory_bytes(machine), _left(machine))]
    return _read[0][1:]


def default_memory_bytes(machine: MachineMemory) -> int | None:
    """What a model may use by default: all that is left now, where the system would take the worker first.

    Where a container is ended as a whole (or that is unknown), some is kept back, so that the parent lives.
    Swap counts where no cgroup stands in the way: a model that needs it is slow, not wrong. What others take
    later is theirs to take: then the worker is the first to go.
    """
    left = _left(machine)
    if left is None:
        return None
    kept = 0 if machine.oom_spares_others else max(left * _KEPT_SHARE, _KEPT_BYTES)
    return max(int(left - kept), _LEAST_BYTES)


def _left(machine: MachineMemory) -> int | None:
    ram = machine.total_bytes if machine.available_bytes is None else machine.available_bytes
    sizes = ((None if ram is None else ram + (machine.swap_free_bytes or 0)), _left_in_cgroup(machine))
    return min((size for size in sizes if size is not None), default=None)


def _left_in_cgroup(machine: MachineMemory) -> int | None:
    if machine.cgroup_limit_bytes is None:
        return None
    return max(0, machine.cgroup_limit_bytes - (machine.cgroup_used_bytes or 0))
