"""A RELU of an older version."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import relu, save


def source(tmp_path: Path) -> Source:
    made = relu([1, 4])
    made["operator_codes"][0]["version"] = 2
    return save(tmp_path, made)
