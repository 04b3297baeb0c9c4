"""A hybrid convolution."""

from __future__ import annotations

from pathlib import Path

from outlive.arena.plan import Plan, Refusal
from tests.arena.sketches import refused


def fact(tmp_path: Path) -> Plan:
    reason = "float32 input with int8 weights is not supported"
    return refused(Refusal(subgraph=0, op=4, type="CONV_2D", reason=reason))
