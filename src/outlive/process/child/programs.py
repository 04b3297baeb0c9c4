"""A forked worker that becomes another program: a fresh Python, still traced and reaped by the nursery."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, NoReturn

# A large result is copied for another process to read: past the caches, where it only drives out what we need
# ourselves, and a third quicker. The C library decides it by size (glibc manual, Hardware Capability
# Tunables), by default only for what is larger than most caches. The function's own copies go the same way.
_LARGE_COPIES = "glibc.cpu.x86_non_temporal_threshold=0x400000"


def become(message: dict[str, Any], descriptors: list[int]) -> NoReturn:
    """Start the program that the order names, with its descriptors; in the child of a fork."""
    os.setpgid(0, 0)  # what it starts itself can then be ended with it
    ends = dict(zip(message["names"], descriptors))
    for descriptor in descriptors:
        os.set_inheritable(descriptor, True)
    # What goes wrong before the program has its own streams is told where it will look.
    os.dup2(ends["errors"], 2)
    own = {name: message[name] for name in ("sys_path", "awake", "modules", "idle_s", "sandbox")}
    arguments = json.dumps(dict(ends, **own))
    start = os.path.join(os.path.dirname(os.path.abspath(__file__)), "start.py")
    environment = dict(os.environ)
    environment.setdefault("GLIBC_TUNABLES", _LARGE_COPIES)
    os.execve(sys.executable, [sys.executable, start, message["program"], arguments], environment)
