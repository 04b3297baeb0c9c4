"""A version of the runtime outside the tables is found."""

from __future__ import annotations

import pytest

from tests.house.conftest import Plant
from tests.house.versions import runtime_versions


@pytest.mark.parametrize(
    "line",
    [
        'KNOWN = "ai-edge-litert 2.3.0"',
        "# as LiteRT 2.3 does",
        '"""What LiteRT 2.3.0 does."""',
        'REMEDY = "pip install ai-edge-litert==2.3.0"',
        "# LiteRT's 2.1",
    ],
)
def test_a_version_is_found(plant: Plant, line: str) -> None:
    (problem,) = runtime_versions(plant({"arena/plan.py": f"x = 1\n{line}\n"}))
    assert "plan.py:2: names '" in problem


def test_tables_and_other_versions_are_fine(plant: Plant) -> None:
    files = {
        "kernels/tables/__init__.py": 'LITERT_VERSION = "2.3.0"  # ai-edge-litert 2.3.0',
        "rules/old.py": '"""LiteRT. 2 of TensorFlow 2.18, Python 3.10; litertype 2.3."""',
    }
    assert runtime_versions(plant(files)) == []
