"""The corners of the matrix that `make soak` runs whole: one thread and many, without and in a container."""

from __future__ import annotations

from typing import Any

import pytest

from outlive.meter import make_cgroup
from tests.deaths.restrictions import linux_only
from tests.faults.limits_matrix import names, problem, try_cell

RAN, MEMORY = {"end": "ran", "result": 1, "of_memory": False}, {"end": "finding", "of_memory": True}


@linux_only
@pytest.mark.parametrize(
    ("name", "end"),
    [("CompiledModel-256-400MB-small", "ran"), ("run-1-400MB-large", "finding")],
)
def test_a_corner_holds(name: str, end: str) -> None:
    own = make_cgroup(10**9)
    if own is None:
        pytest.skip("needs leave to make a memory cgroup: root, or a delegated one")
    own.close()
    row = try_cell(name)
    assert (row["problem"], row["outlive"]["end"]) == ("", end)


@pytest.mark.parametrize(
    ("plain", "ours", "holds"),
    [
        (RAN, RAN, True),
        (RAN, {**RAN, "result": 2}, False),
        (RAN, MEMORY, False),
        ({"end": "died", "of_memory": True}, MEMORY, True),
        ({"end": "died", "of_memory": True}, {"end": "finding", "of_memory": False}, False),
        ({"end": "died", "of_memory": True}, {"end": "died", "of_memory": True}, False),
        ({"end": "died", "of_memory": False}, RAN, False),
    ],
)
def test_what_holds(plain: dict[str, Any], ours: dict[str, Any], holds: bool) -> None:
    assert (problem(plain, ours) == "") == holds


def test_the_matrix_is_whole() -> None:
    assert len([name for name in names() if name.endswith("small")]) == 5 * 4 * 6
