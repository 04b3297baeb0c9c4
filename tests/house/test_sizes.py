"""Modules, functions and rules that grew too big are found."""

from __future__ import annotations

from textwrap import indent

import pytest

from tests.house.conftest import Plant
from tests.house.sizes import deep_functions, empty_names, long_functions, long_modules, rule_sizes

THREE_DEEP = """
async def walk(rows):
    with rows:
        for row in rows:
            if row == 1:
                yield row
            elif row == 2:
                yield row
            elif row == 3:
                yield row
            else:
                yield row
"""


def test_a_long_module_is_found(plant: Plant) -> None:
    package = plant({"fine.py": "x = 1\n" * 500, "model/long.py": "x = 1\n" * 501})
    (problem,) = long_modules(package)
    assert "long.py: 501 lines, more than 500" in problem


def test_a_long_function_is_found(plant: Plant) -> None:
    fine = "@decorator\ndef fine():\n" + "    x = 1\n" * 59
    long = "class Box:\n    def long(self):\n" + "        x = 1\n" * 60
    (problem,) = long_functions(plant({"units.py": fine + long}))
    assert "units.py:63: long has 61 lines" in problem


@pytest.mark.parametrize(
    "block",
    [
        "if a:\n    x = 1",
        "if a:\n    pass\nelse:\n    x = 1",
        "for a in b:\n    x = 1",
        "async for a in b:\n    x = 1",
        "while a:\n    x = 1",
        "with a:\n    x = 1",
        "try:\n    x = 1\nexcept E:\n    pass",
        "try:\n    pass\nexcept E:\n    x = 1",
        "try:\n    pass\nfinally:\n    x = 1",
        "match a:\n    case 1:\n        x = 1",
    ],
)
def test_one_more_level_is_found(plant: Plant, block: str) -> None:
    assert deep_functions(plant({"units.py": THREE_DEEP})) == []
    deeper = THREE_DEEP.replace("                yield row\n", indent(block, " " * 16) + "\n", 1)
    (problem,) = deep_functions(plant({"units.py": deeper}))
    assert "units.py:2: walk is nested 4 deep, more than 3" in problem


def test_a_function_inside_starts_anew(plant: Plant) -> None:
    nested = THREE_DEEP.replace("yield row\n", "def inner():\n                    if row: return\n", 1)
    assert deep_functions(plant({"units.py": nested})) == []


@pytest.mark.parametrize("name", ["utils.py", "model/_helpers.py", "core/__init__.py", "base/tensor.py"])
def test_a_name_that_says_nothing_is_found(plant: Plant, name: str) -> None:
    (problem,) = empty_names(plant({"model/database.py": "", name: ""}))
    assert "says nothing about what is in it" in problem


@pytest.mark.parametrize(("lines", "faults"), [(19, 1), (20, 0), (130, 0), (131, 1)])
def test_a_rule_of_the_wrong_size_is_found(plant: Plant, lines: int, faults: int) -> None:
    files = {"rules/file/f104_git_lfs_pointer.py": "x = 1\n" * lines, "rules/file/shared.py": ""}
    assert len(rule_sizes(plant(files))) == faults
