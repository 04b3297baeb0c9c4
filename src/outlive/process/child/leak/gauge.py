"""What this process holds at this moment, after everything free was given back: numbers for a leak test."""

from __future__ import annotations

import gc
import importlib
import sys
import time
from typing import Any

from ..operating_system import own_process, own_resources


def settle() -> None:
    """Collect garbage and give what is free back to the system, so that what is left is really held."""
    gc.collect()
    own_process.trim_heap()


def read() -> dict[str, Any]:
    """All the numbers; None for what this system does not tell."""
    settle()
    memory = own_process.memory() or _portable_memory()
    return {
        "at": time.monotonic(),
        "private_bytes": memory.get("private_bytes"),
        "shared_bytes": own_resources.shared_bytes(),
        "heap_bytes": own_resources.heap_bytes(),
        "mapped_bytes": own_resources.mapped_bytes(),
        "objects": len(gc.get_objects()),
        "blocks": sys.getallocatedblocks() if hasattr(sys, "getallocatedblocks") else None,
        "descriptors": own_resources.count_descriptors(),
        "threads": own_resources.count_threads(),
    }


def _portable_memory() -> dict[str, int]:
    """Private memory where there is no /proc, if psutil is there to ask."""
    try:
        process = importlib.import_module("psutil").Process()
        return {"private_bytes": int(process.memory_full_info().uss)}
    except Exception:  # not installed, or it cannot tell either
        return {}
