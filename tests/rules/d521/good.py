"""A model that takes zeros."""

from __future__ import annotations

from pathlib import Path

from outlive.rules.death.d521_refused_values import RefusedValues
from tests.rules.d521.bad import fact as with_error


def fact(tmp_path: Path) -> RefusedValues:
    return with_error(tmp_path, "")
