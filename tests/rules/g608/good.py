"""Every round went well."""

from __future__ import annotations

from pathlib import Path

from outlive.growth.growth import Growth
from tests.rules.growths import growth, stage


def fact(tmp_path: Path) -> Growth:
    return growth(stage())
