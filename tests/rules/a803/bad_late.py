"""A model that did not end in time."""

from __future__ import annotations

from pathlib import Path

from outlive.accelerators import Coverage
from outlive.accelerators.coverage import Death
from tests.rules.coverages import coverage, gpu


def fact(tmp_path: Path) -> Coverage:
    return coverage(
        gpu(
            runs=False,
            milliseconds=None,
            ops_taken=None,
            taken=None,
            death=Death(stage="invoke", signal="SIGKILL", ended_by="deadline"),
        )
    )
