"""Several of them."""

from __future__ import annotations

from pathlib import Path

from outlive.arena.plan import Plan, Refusal
from tests.arena.sketches import refused


def fact(tmp_path: Path) -> Plan:
    kinds = ("UNIQUE", "RFFT2D", "UNIQUE", "EdgeTpu", "WHERE", "SEGMENT_SUM", "MULTINOMIAL")
    lacks = [
        Refusal(subgraph=0, op=index, type=kind, reason="there is no kernel for it", missing=True)
        for index, kind in enumerate(kinds)
    ]
    return refused(*lacks)
