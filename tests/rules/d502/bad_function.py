"""A function of TensorFlow's that asked for more than the limit, and ended by an exception nothing caught."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import LIMITS, MIB, death

PRINTED = """W0000 1 cpu_allocator_impl.cc:84] Allocation of 40000000000 exceeds 10% of free system memory.
terminate called after throwing an instance of 'std::bad_alloc'
"""


def fact(tmp_path: Path) -> Flight:
    return death(
        "SIGABRT",
        stage="call",
        op=None,
        frames=("raise", "abort"),
        stderr_tail=PRINTED,
        limits={**LIMITS, "memory_bytes": 1000 * MIB},
        fault_trace='Current thread 0x1 (most recent call first):\n  File "train.py", line 7 in train\n',
    )
