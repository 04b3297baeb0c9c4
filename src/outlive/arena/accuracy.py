"""How far plans were from what models took, on models that are kept out of the tuning of rules.

The counts in accuracy.json are written by benchmarks/plan_accuracy.py, and by nothing else.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from outlive.arena.plan import SAID, Bound

PATH = Path(__file__).with_name("accuracy.json")
LARGE_BYTES = 5_000_000
# How much more than its plan a model may take, unless the plan says "at least": the promise that is checked.
ERROR_SHARE, ERROR_BYTES = 0.03, 200_000


def said_of(bound: Bound, size: int) -> str:
    """The words before a peak. A small peak may be off by more than itself: it is "about" so much."""
    return SAID["estimate"] if bound == "upper" and size < LARGE_BYTES else SAID[bound]


def tally(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """By what plans said of their peak: how many were near, and how many models took more."""
    return {bound: _count([row for row in rows if row["bound"] == bound]) for bound in SAID}


def _count(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    large = [row for row in rows if row["measured_bytes"] >= LARGE_BYTES]
    errors = [_error(row) / row["measured_bytes"] for row in large]
    small = [_error(row) for row in rows if row["measured_bytes"] < LARGE_BYTES]
    return {
        "large": len(errors),
        "large_within": sum(abs(error) <= ERROR_SHARE for error in errors),
        "large_low": sum(error < -ERROR_SHARE for error in errors),
        "small": len(small),
        "small_within": sum(abs(error) <= ERROR_BYTES for error in small),
    }


def _error(row: Mapping[str, Any]) -> int:
    return int(row["planned_bytes"]) - int(row["measured_bytes"])


def expected_error(accelerator: str, bound: Bound) -> str:
    """The sentence that a plan says of itself; never stronger than what was counted."""
    known = _counts().get("builtin" if accelerator == "reference" else accelerator, {})
    found = known.get(bound, {})
    if not found.get("large"):
        return f'how far this plan is off: no plans that say "{SAID[bound]}" were compared with runs'
    large, small, low = found["large"], found["small"], found["large_low"]
    near, near_small = _percent(found["large_within"], large), _percent(found["small_within"], small)
    return (
        f"how far this plan is off: of {large} models of 5 MB and more that rules are no longer tuned on, "
        f'whose plan said "{SAID[bound]}", {near} were within 3 % of it and {low} took more than that; '
        f"of {small} smaller ones {near_small} were within 0.2 MB"
    )


def _percent(part: int, whole: int) -> str:
    return f"{100 * part // max(1, whole)} %"


@functools.cache
def _counts() -> dict[str, dict[str, dict[str, int]]]:
    counts: dict[str, dict[str, dict[str, int]]] = json.loads(PATH.read_text())
    return counts
