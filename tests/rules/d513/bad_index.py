"""An index that points outside, in the older form of the line."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import death

LINE = (
    "2024-05-01 10:00:00.123456: F tensorflow/core/kernels/maxpooling_op.cc:1090] Check failed: "
    "grad_out_index >= output_start Invalid output gradient index: 1000000000, 0, 16\n"
)


def fact(tmp_path: Path) -> Flight:
    return death("SIGABRT", stage="call", op=None, frames=(), stderr_tail=LINE)
