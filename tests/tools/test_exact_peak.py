"""The tracer of the benchmark sees memory that is gone before anybody looks."""

from __future__ import annotations

import os
import sys

import pytest

from benchmarks.exact_peak import can_trace, stage_peaks

MIB = 1 << 20
PROGRAM = """
import mmap, os
os.write(1, b".")
os.read(0, 1)
for size in (50, 20):
    block = mmap.mmap(-1, size << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    block.write(b"x" * (1 << 20) * size)
    block.close()
    os.write(1, b".")
"""


@pytest.mark.skipif(not can_trace(), reason="peaks are measured on Linux, on x86-64 and 64-bit Arm")
def test_a_peak_between_two_looks_is_seen() -> None:
    stages = stage_peaks([sys.executable, "-c", PROGRAM], dict(os.environ), ("first", "second", "third"))
    assert list(stages) == ["first", "second"]
    assert 100 * MIB <= stages["first"] < 103 * MIB  # the block, and the bytes that were written to it
    assert 40 * MIB <= stages["second"] < 43 * MIB


@pytest.mark.skipif(not can_trace(), reason="peaks are measured on Linux, on x86-64 and 64-bit Arm")
def test_a_program_that_dies_has_the_stages_it_came_to() -> None:
    program = PROGRAM.replace("(50, 20)", "(5, None)")
    assert list(stage_peaks([sys.executable, "-c", program], dict(os.environ), ("first", "second"))) == [
        "first"
    ]
