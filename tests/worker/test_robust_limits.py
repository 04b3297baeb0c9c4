"""How much a model may use when nobody says how much."""

from __future__ import annotations

from typing import Any

import pytest

from outlive.meter import MachineMemory
from outlive.worker.limits import Limits, default_memory_bytes

GB = 10**9


def machine(**sizes: Any) -> MachineMemory:
    known = {"total_bytes": 16 * GB, "available_bytes": 10 * GB, "swap_total_bytes": 0, "swap_free_bytes": 0}
    return MachineMemory(**{**known, **sizes})


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ({}, 9 * GB),  # a tenth of what is left stays with the others
        ({"available_bytes": GB // 2}, GB // 2 - 100_000_000),  # or a hundred megabytes, if that is more
        ({"available_bytes": 50_000_000}, 200_000_000),  # stacks and the like are counted, touched or not
        ({"swap_free_bytes": 10 * GB}, 18 * GB),
        (
            {"cgroup_limit_bytes": 4 * GB, "cgroup_used_bytes": 2 * GB, "swap_free_bytes": 10 * GB},
            9 * GB // 5,
        ),
        ({"cgroup_limit_bytes": 64 * GB, "cgroup_used_bytes": 2 * GB}, 9 * GB),
        ({"available_bytes": None}, 16 * GB * 9 // 10),
        ({"available_bytes": None, "total_bytes": None}, None),
    ],
)
def test_the_default_is_most_of_what_is_left(sizes: dict[str, Any], expected: int | None) -> None:
    assert default_memory_bytes(machine(**sizes)) == expected


def test_what_is_asked_for_is_taken() -> None:
    assert Limits(memory="512MB").effective_memory_bytes() == 512_000_000
    assert Limits(memory=64 * GB).effective_memory_bytes() == 64 * GB


@pytest.mark.parametrize("limits", [{"memory": 0}, {"memory": "0KB"}, {"seconds": 0}, {"seconds": -1}])
def test_nothing_is_not_a_limit(limits: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"leaves no room|has passed"):
        Limits(**limits)
