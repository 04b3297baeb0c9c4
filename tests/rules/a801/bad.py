"""A GPU that dies at compiling."""

from __future__ import annotations

from pathlib import Path

from outlive.accelerators import Coverage
from outlive.accelerators.coverage import Death
from tests.rules.coverages import coverage, gpu


def fact(tmp_path: Path) -> Coverage:
    return coverage(
        gpu(
            runs=False,
            compiles=False,
            milliseconds=None,
            ops_taken=None,
            taken=None,
            death=Death(
                stage="load", signal="SIGSEGV", headline="the runtime touched memory that it does not have"
            ),
        )
    )
