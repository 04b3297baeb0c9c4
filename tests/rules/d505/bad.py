"""A check in native code that failed and printed why."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import CHATTER, PREPARE, death


def fact(tmp_path: Path) -> Flight:
    return death(
        "SIGABRT",
        frames=("libc.so.6", "gsignal", "abort", "tflite::QuantizeMultiplier", *PREPARE),
        stage="allocate",
        stderr_tail=CHATTER + "quantization_util.cc:120 Check failed: shift <= 31\n",
    )
