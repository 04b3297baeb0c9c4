"""TensorFlow says so itself; whose limit it was is not seen."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import death


def fact(tmp_path: Path) -> Flight:
    said = "Check failed: ret == 0 (11 vs. 0) Thread tf_Eigen creation via pthread_create() failed."
    printed = f"F0000 00:00:1794.46 7775 env.cc:84] {said}\n"
    frames = ("gsignal", "abort", "tsl::PThread::PThread")
    return death("SIGABRT", stage="call", op=None, frames=frames, stderr_tail=printed)
