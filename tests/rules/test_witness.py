"""A runtime's words about memory mean something in one place: here, and not where they are recorded."""

from __future__ import annotations

from typing import Any

import pytest

from outlive.rules.flight_end import cause, complains_at_limit
from outlive.verbs.judging import JUDGE
from tests.rules.facts import GIB, LIMITS, complaint

ASKED = {**LIMITS, "memory_bytes": GIB}
NEAR, FAR = {"data_bytes": 12 * GIB}, {"data_bytes": GIB}


@pytest.mark.parametrize(
    ("words", "fields", "at_limit"),
    [
        ("", {"limits": ASKED}, True),
        ("", {"last_memory": NEAR}, True),
        ("", {"last_memory": FAR}, False),
        ("std::bad_alloc", {"limits": ASKED}, True),
        ("failed to allocate 7 bytes", {"last_memory": NEAR}, True),
        ("XNNPack delegate failed to reshape runtime", {"limits": ASKED, "last_memory": FAR}, False),
        ("XNNPack delegate failed to reshape runtime", {"limits": ASKED, "last_memory": NEAR}, True),
        ("Node 3 failed to prepare", {"limits": ASKED, "last_memory": NEAR}, False),
        ("out of memory", {"limits": ASKED, "stage": "get"}, False),
        ("out of memory", {"limits": ASKED, "kind": "ValueError"}, False),
        ("no room", {"limits": ASKED, "kind": "MemoryError"}, True),
    ],
)
def test_a_complaint_about_memory_at_a_limit(words: str, fields: dict[str, Any], at_limit: bool) -> None:
    flight = complaint(words, **fields)
    assert complains_at_limit(flight) is at_limit
    assert not at_limit or cause(flight) == "memory-limit"
    finding, _, seen = JUDGE.find("flight", flight)
    assert (seen.ended_by == "memory") is at_limit
    assert not at_limit or finding.code == "D502"
