"""Imports that break the order of the layers are found, however they are written."""

from __future__ import annotations

import pytest

from tests.house.conftest import Plant
from tests.house.layers import import_cycles, imports_not_going_down, unknown_packages

TREE = {
    "__init__.py": "from outlive.verbs import read",
    "__main__.py": "from outlive.cli.main import main",
    "verbs.py": "from outlive.model import read",
    "cli/__init__.py": "",
    "cli/main.py": "from outlive import verbs",
    "rendering/__init__.py": "",
    "rules/__init__.py": "",
    "process/__init__.py": "",
    "meter/__init__.py": "",
    "model/__init__.py": "from outlive.model.reader import read",
    "model/reader.py": "from outlive.errors import ModelError\nfrom . import tensor",
    "model/tensor.py": "from .. import units",
    "errors.py": "from outlive.finding import Finding",
    "finding.py": "",
    "units.py": "",
}


def test_a_tidy_tree_has_no_problems(plant: Plant) -> None:
    package = plant(TREE)
    assert unknown_packages(package) == []
    assert imports_not_going_down(package) == []
    assert import_cycles(package) == []


@pytest.mark.parametrize(
    "line",
    [
        "import outlive.rendering",
        "import outlive.rendering as drawing",
        "from outlive.rendering import draw",
        "from outlive import rendering",
        "from .. import rendering",
        "from ..rendering import draw",
        "from outlive.cli.main import main",
        "from outlive import read",
        "import outlive",
        "def late():\n    from outlive.rendering import draw",
        "if TYPE_CHECKING:\n    from outlive.rendering import Page",
        "import importlib\ndef late():\n    return importlib.import_module('outlive.rendering')",
        "from importlib import import_module\nimport_module('..rendering', __package__)",
        "__import__('outlive.rendering')",
    ],
)
def test_an_import_that_goes_up_is_found(plant: Plant, line: str) -> None:
    (problem,) = imports_not_going_down(plant({**TREE, "model/tensor.py": line}))
    assert "tensor.py:" in problem
    assert "in a higher layer" in problem


def test_the_line_of_the_import_is_given(plant: Plant) -> None:
    (problem,) = imports_not_going_down(plant({**TREE, "units.py": "\n\nimport outlive.model.tensor\n"}))
    assert "units.py:3: units imports outlive.model.tensor" in problem


def test_an_import_of_the_same_layer_is_found(plant: Plant) -> None:
    (problem,) = imports_not_going_down(
        plant({**TREE, "meter/__init__.py": "from outlive.model import read"})
    )
    assert "another package of the same layer" in problem


def test_the_worker_does_not_know_the_model(plant: Plant) -> None:
    (problem,) = imports_not_going_down(plant({**TREE, "process/__init__.py": "import outlive.model"}))
    assert "a package that process must not import" in problem


def test_other_packages_are_none_of_our_business(plant: Plant) -> None:
    files = {**TREE, "units.py": "import sys, numpy\nfrom report import cli\nimport outlived.report"}
    assert imports_not_going_down(plant(files)) == []


@pytest.mark.parametrize("name", ["attic/__init__.py", "cellar.py"])
def test_a_package_in_no_layer_is_found(plant: Plant, name: str) -> None:
    (problem,) = unknown_packages(plant({**TREE, name: ""}))
    assert "is in no layer" in problem


def test_code_among_the_data_is_found(plant: Plant) -> None:
    (problem,) = unknown_packages(plant({**TREE, "device_data/__init__.py": ""}))
    assert "device_data/ holds data only" in problem


def test_a_cycle_within_a_package_is_found_once(plant: Plant) -> None:
    files = {
        **TREE,
        "model/tensor.py": "def late():\n    from outlive.model.shape import Shape",
        "model/shape.py": "from outlive.model.reader import read",
    }
    (problem,) = import_cycles(plant(files))
    assert problem.startswith(
        "import cycle: outlive.model.reader -> outlive.model.tensor -> outlive.model.shape"
    )


def test_a_module_that_imports_its_own_package_is_a_cycle(plant: Plant) -> None:
    (problem,) = import_cycles(plant({**TREE, "model/reader.py": "from outlive.model import Model"}))
    assert problem == "import cycle: outlive.model -> outlive.model.reader -> outlive.model"
