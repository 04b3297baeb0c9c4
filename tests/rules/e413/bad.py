"""A virtual machine that hides AVX."""

from __future__ import annotations

from pathlib import Path

from outlive.environment.surroundings import Surroundings
from tests.rules.places import machine


def fact(tmp_path: Path) -> Surroundings:
    return machine(
        packages={"tensorflow": "2.21.0", "numpy": "2.2.6"}, cpu_flags=frozenset({"sse2", "sse4_2"})
    )
