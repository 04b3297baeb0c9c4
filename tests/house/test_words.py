"""Missing words, stray prints and a wrong `__all__` are found."""

from __future__ import annotations

import pytest

from tests.house.conftest import Plant
from tests.house.words import (
    missing_docstrings,
    packages_without_question,
    stray_prints,
    unsorted_or_incomplete_all,
)

FRONT = '''
"""Front."""
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from outlive.model import Model

__all__ = ["Model", "ModelError", "read"]
'''
API = "def read(): ...\n\ndef _hidden(): ..."
ERRORS = "class ModelError(Exception): ..."


def test_documented_code_is_fine(plant: Plant) -> None:
    text = '''
    """Module."""
    class Box:
        """Class."""
        def open(self):
            """Method."""
            def inner(): ...
        def __len__(self): ...
        @typing.overload
        def get(self): ...
    def _private(): ...
    '''
    assert missing_docstrings(plant({"units.py": text})) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1", "the module has no docstring"),
        ('"""Module."""\nclass Box: ...', "units.py:2: Box has no docstring"),
        ('"""Module."""\ndef read(): ...', "units.py:2: read has no docstring"),
        ('"""Module."""\nasync def read(): ...', "units.py:2: read has no docstring"),
        (
            '"""Module."""\nclass Box:\n    """Box."""\n    def open(self): ...',
            "units.py:4: open has no docstring",
        ),
    ],
)
def test_a_missing_docstring_is_found(plant: Plant, text: str, words: str) -> None:
    (problem,) = missing_docstrings(plant({"units.py": text}))
    assert words in problem


def test_the_text_of_a_rule_is_the_docstring_of_its_module(plant: Plant) -> None:
    decorated = '@rule("F113", "unknown", Severity.ERROR, since="0.1")\ndef unknown(file): ...'
    assert missing_docstrings(plant({"f113.py": f'"""Module."""\n{decorated}'})) == []
    assert len(missing_docstrings(plant({"f113.py": decorated}))) == 1


def test_a_package_without_its_question_is_found(plant: Plant) -> None:
    files = {
        "__init__.py": '"""Not a package of ours."""',
        "model/__init__.py": '"""WHAT IS IN THE FILE?"""',
        "arena/__init__.py": '"""Memory.\n\nHow\nmuch?\n"""',
        "rules/__init__.py": '"""WHAT IS WRONG?"""',
        "rules/file/__init__.py": '"""A family."""',
        "meter/growth.py": "",
    }
    problems = packages_without_question(plant(files))
    assert len(problems) == 2
    assert problems[0].endswith("meter: a package needs an __init__.py")
    assert "arena" in problems[1]


def test_a_print_elsewhere_is_found(plant: Plant) -> None:
    speaking = {"cli/terminal.py": "print(1)"}
    quiet = {"model/reader.py": "def read():\n    print(1)", "units.py": "pprint(1); a.print(1)"}
    (problem,) = stray_prints(plant({**speaking, **quiet}))
    assert "reader.py:2: print()" in problem


def test_a_good_all_is_fine(plant: Plant) -> None:
    package = plant({"__init__.py": FRONT, "verbs/read.py": API, "errors.py": ERRORS})
    assert unsorted_or_incomplete_all(package) == []


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        ('["ModelError", "Model", "read"]', "is not sorted"),
        ('["Model", "ModelError", "read", "read"]', "names something twice"),
        ('["Model", "ModelError"]', "read of outlive.verbs.read is public and not in __all__"),
        ('["Model", "read"]', "ModelError of outlive.errors is public and not in __all__"),
        ('["ModelError", "read"]', "Model of outlive is public and not in __all__"),
        ('["Model"] + more', "is not a plain list"),
        ('["Model", name]', "is not a plain list"),
    ],
)
def test_a_bad_all_is_found(plant: Plant, listed: str, words: str) -> None:
    front = FRONT.replace('["Model", "ModelError", "read"]', listed)
    (problem,) = unsorted_or_incomplete_all(
        plant({"__init__.py": front, "verbs/read.py": API, "errors.py": ERRORS})
    )
    assert words in problem


def test_a_package_without_all_is_found(plant: Plant) -> None:
    (problem,) = unsorted_or_incomplete_all(plant({"__init__.py": '"""Front."""'}))
    assert "is not a plain list" in problem
