"""In another subgraph, and without an operator."""

from __future__ import annotations

from pathlib import Path

from outlive.arena.plan import Plan, Refusal
from tests.arena.sketches import refused


def fact(tmp_path: Path) -> Plan:
    odd = Refusal(subgraph=1, op=2, type="DEQUANTIZE", reason="input type uint8 is not supported")
    whole = Refusal(subgraph=0, op=None, type="model", reason="the offline plan has the wrong length")
    return refused(odd, whole)
