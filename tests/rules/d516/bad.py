"""LiteRT's own kernels with more threads than the container may have."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import LIMITS, death


def fact(tmp_path: Path) -> Flight:
    frames = ("PyErr_Occurred", "pybind11::detail::raise_err", "pybind11::detail::translate_exception")
    threads = {"asked": 64, "running": 16, "by": "pids.max", "limit": 20}
    return death(frames=frames, op=None, fault_address=0x60, limits={**LIMITS, "threads": threads})
