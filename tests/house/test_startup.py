"""A package that loads too much, or promises names it does not have, is found out."""

from __future__ import annotations

import sys

import pytest

from tests.house.conftest import Plant
from tests.house.startup import UNWANTED_MODULES, loaded_by, names_not_to_be_had

MAPPING = """
    import mmap, pathlib
    path = pathlib.Path(__file__).with_name("{name}")
    path.write_bytes(b"library")
    with path.open("rb") as file:
        kept = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
"""
LAZY = '''
__all__ = ["Model", "read"]

class Model:
    """A model."""

def __getattr__(name):
    def read():
        """Reads."""
    if name == "read":
        return read
    raise AttributeError(name)

def __dir__():
    return __all__
'''


def test_a_light_package_is_fine(plant: Plant) -> None:
    assert loaded_by("import outlive", plant({"__init__.py": "import json"}).parent) == []


@pytest.mark.parametrize("name", sorted(UNWANTED_MODULES))
def test_an_unwanted_module_is_found(plant: Plant, name: str) -> None:
    files = {"__init__.py": f"import {name}.inner", f"../{name}/__init__.py": "", f"../{name}/inner.py": ""}
    (problem,) = loaded_by("import outlive", plant(files).parent)
    assert problem == f"the module {name} is loaded after: import outlive"


def test_a_module_loaded_later_is_found(plant: Plant) -> None:
    files = {"__init__.py": "def read():\n    import tensorflow", "../tensorflow.py": ""}
    source = plant(files).parent
    assert loaded_by("import outlive", source) == []
    assert len(loaded_by("import outlive; outlive.read()", source)) == 1


@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux shows a process's mapped files in /proc/self/maps"
)
@pytest.mark.parametrize(
    ("name", "faults"),
    [("libLiteRt.so", 1), ("_pywrap_tensorflow_internal.so.2", 1), ("model.tflite", 0), ("libz.so", 0)],
)
def test_an_unwanted_library_is_found(plant: Plant, name: str, faults: int) -> None:
    source = plant({"__init__.py": MAPPING.format(name=name)}).parent
    problems = loaded_by("import outlive", source)
    assert len(problems) == faults
    assert all(name in problem and "is mapped" in problem for problem in problems)


def test_lazy_names_are_fine(plant: Plant) -> None:
    assert names_not_to_be_had(plant({"__init__.py": LAZY}).parent) == []


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"read"]', '"read", "write"]', "write is in __all__ and cannot be had"),
        ("return __all__", "return ['Model']", "read is in __all__ and not in dir(outlive)"),
        ('"""Reads."""', "...", "read is public and has no docstring"),
        ('"""A model."""', "...", "Model is public and has no docstring"),
    ],
)
def test_a_name_that_cannot_be_had_is_found(plant: Plant, old: str, new: str, words: str) -> None:
    (problem,) = names_not_to_be_had(plant({"__init__.py": LAZY.replace(old, new, 1)}).parent)
    assert words in problem


def test_the_docstring_a_dataclass_makes_for_itself_does_not_count(plant: Plant) -> None:
    front = LAZY.replace("class Model", "import dataclasses\n@dataclasses.dataclass\nclass Model")
    (problem,) = names_not_to_be_had(plant({"__init__.py": front.replace('"""A model."""', "x: int")}).parent)
    assert problem == "Model is public and has no docstring"
