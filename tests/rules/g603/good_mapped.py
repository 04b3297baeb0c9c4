"""Files that are mapped have descriptors; what leaks are the mappings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from outlive.growth.growth import Growth
from tests.rules.growths import growth, mapped, rising


def fact(tmp_path: Path) -> Growth:
    stage = mapped()
    return growth(replace(stage, trends={**stage.trends, "descriptors": rising(1.0)}))
