"""A death has a finding of its own."""

from __future__ import annotations

from pathlib import Path

from outlive.growth.growth import Growth
from tests.rules.facts import death
from tests.rules.growths import growth, stage


def fact(tmp_path: Path) -> Growth:
    return growth(stage(problem="the runtime touched memory that it does not have", flight=death()))
