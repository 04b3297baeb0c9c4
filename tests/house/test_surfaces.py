"""Modules too small for a file, full folders and imports past a package's surface are found."""

from __future__ import annotations

import pytest

from tests.house.conftest import Plant
from tests.house.surfaces import (
    full_folders,
    imports_past_the_surface,
    small_modules_with_one_importer,
    unknown_public_modules,
)

ARENA = """
PUBLIC_MODULES = ("budget", "tflm.abi")
__all__ = ["Plan", "make"]
from outlive.arena.plan import Plan
"""
TREE = {
    "__init__.py": "",
    "units.py": "",
    "arena/__init__.py": ARENA,
    "arena/plan.py": "class Plan: ...",
    "arena/make.py": "def make(): ...",
    "arena/budget.py": "",
    "arena/placing.py": "",
    "arena/tflm/__init__.py": "",
    "arena/tflm/abi.py": "",
    "arena/tflm/greedy.py": "from outlive.arena.placing import place",
    "fleet/__init__.py": "",
}


@pytest.mark.parametrize(
    "line",
    [
        "import outlive.arena",
        "from outlive import arena, units",
        "from outlive.arena import Plan, make",
        "from outlive.arena import budget",
        "from outlive.arena.budget import Budget",
        "from ..arena.tflm import abi",
        "from outlive.arena.tflm.abi import ABI",
        "from outlive.fleet import row",
    ],
)
def test_what_a_package_offers_may_be_imported(plant: Plant, line: str) -> None:
    assert imports_past_the_surface(plant({**TREE, "fleet/row.py": "", "fleet/table.py": line})) == []


@pytest.mark.parametrize(
    "line",
    [
        "from outlive.arena.plan import Plan",
        "from outlive.arena import placing",
        "import outlive.arena.placing",
        "from outlive.arena import tflm",
        "from outlive.arena.tflm.greedy import place",
        "def late():\n    from ..arena import placing",
        "if TYPE_CHECKING:\n    from outlive.arena.plan import Plan, Step",
    ],
)
def test_an_import_past_the_surface_is_found(plant: Plant, line: str) -> None:
    (problem,) = imports_past_the_surface(plant({**TREE, "fleet/table.py": line}))
    assert "table.py:" in problem
    assert problem.endswith("is not offered by outlive.arena")


def test_a_public_module_is_there_and_used(plant: Plant) -> None:
    package = plant({**TREE, "fleet/table.py": "from outlive.arena import budget"})
    (problem,) = unknown_public_modules(package)
    assert problem.endswith("PUBLIC_MODULES names tflm.abi, which no package uses")
    package = plant({"fleet/lazy.py": "LATER = ('outlive.arena.tflm.abi',)"})
    assert unknown_public_modules(package) == []
    package = plant({"arena/__init__.py": "PUBLIC_MODULES = ('budget', 'gone')"})
    (problem,) = unknown_public_modules(package)
    assert problem.endswith("names gone, which is no module")


def test_a_small_module_with_one_importer_is_found(plant: Plant) -> None:
    few, many = "x = 1\n" * 99, "x = 1\n" * 100
    files = {
        "model/__init__.py": "",
        "model/reader.py": "from outlive.model import one\nfrom outlive.model.large import x\n",
        "model/one.py": few + "\n",
        "model/large.py": many,
        "model/two.py": few,
        "model/three.py": "from outlive.model import two",
        "model/four.py": "from outlive.model import two",
        "model/elsewhere.py": few,
        "fleet/row.py": "from outlive.model import elsewhere",
        "rules/file/engine.py": "from outlive.rules.file import facts",
        "rules/file/facts.py": few,
    }
    (problem,) = small_modules_with_one_importer(plant(files | {"model/one.py": few}))
    assert "one.py: 99 lines, imported by outlive.model.reader only" in problem


def test_a_full_folder_is_found(plant: Plant) -> None:
    files = {f"{folder}/m{number}.py": "" for folder in ("fleet", "rules/file") for number in range(61)}
    (problem,) = full_folders(plant({**files, **{f"model/m{number}.py": "" for number in range(60)}}))
    assert problem.endswith("fleet: 61 files, more than 60")
