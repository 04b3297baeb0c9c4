"""Names that two things bear, and homely words, are found."""

from __future__ import annotations

import pytest

from tests.house import naming
from tests.house.conftest import Plant
from tests.house.naming import (
    class_names_used_twice,
    docstrings_that_point_away,
    file_names_used_twice,
    homely_names,
    homely_prose,
)


@pytest.mark.parametrize(
    "text", ["class Order: ...", "class Plan:\n    class Order: ...", "def f():\n    class Order: ..."]
)
def test_a_class_name_used_twice_is_found(plant: Plant, text: str) -> None:
    (problem,) = class_names_used_twice(plant({"model/order.py": "class Order: ...", "fleet/row.py": text}))
    assert problem.startswith("2 classes are called Order: ")
    assert "order.py:1" in problem
    assert class_names_used_twice(plant({"fleet/row.py": "class Row: ...\nclass _Order: ..."})) == []


def test_a_private_class_name_used_twice_is_found(plant: Plant) -> None:
    files = {"model/a.py": "class _Order: ...", "model/b.py": "class _Order: ..."}
    assert len(class_names_used_twice(plant(files))) == 1


def test_a_file_name_used_twice_is_found(plant: Plant) -> None:
    fine = {
        f"{folder}/plan.py": ""
        for folder in ("verbs", "cli/commands", "rendering/pages", "arena", "rules/memory")
    }
    kernels = {"kernels/tflm/convolution.py": "", "kernels/xnnpack/convolution.py": ""}
    package = plant({**fine, **kernels, "model/__init__.py": "", "arena/__init__.py": ""})
    assert file_names_used_twice(package) == []
    (problem,) = file_names_used_twice(plant({"model/plan.py": ""}))
    assert problem == "2 modules are called plan: arena/plan.py, model/plan.py"


def test_a_noun_is_shared_for_a_reason(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    package = plant({"arena/row.py": "", "fleet/row.py": ""})
    assert len(file_names_used_twice(package)) == 1
    monkeypatch.setitem(naming.SHARED_NOUNS, "row", "a row of a table in both")
    assert file_names_used_twice(package) == []
    assert all(naming.SHARED_NOUNS.values())


def test_a_docstring_that_points_away_is_found(plant: Plant) -> None:
    text = (
        'def judge(model):\n    """See the module."""\ndef fine():\n    """Look: see the module above."""\n'
    )
    (problem,) = docstrings_that_point_away(plant({"rules/file/f104_pointer.py": text}))
    assert "f104_pointer.py:1: the docstring of judge says nothing" in problem


@pytest.mark.parametrize(
    "text",
    [
        "class Workshop: ...",
        "class ResultShelf: ...",
        "class Own: ...",
        "def _told(): ...",
        "def row_told(): ...",
        "def f(nobody): ...",
        "class A:\n    def f(self):\n        self._upset = 1",
        "desk = 1",
        "for jury in x: ...",
    ],
)
def test_a_homely_name_is_found(plant: Plant, text: str) -> None:
    assert len(homely_names(plant({"model/tensor.py": text}))) == 1


def test_other_names_are_fine(plant: Plant) -> None:
    text = "class Owner: ...\nown_process = 1\ndef recommend(amended, shelfmark, stocked): ...\nother.told()"
    assert homely_names(plant({"model/tensor.py": text, "model/quickly.py": ""})) == []


def test_a_homely_module_is_found(plant: Plant) -> None:
    (problem,) = homely_names(plant({"model/swift.py": ""}))
    assert "a module called swift" in problem


@pytest.mark.parametrize(
    "text",
    [
        '"""Nobody closes it."""',
        'def f():\n    """Give it back.\n\n    Whoever asks first gets it.\n    """',
        "x = 1  # so that it can be mended",
        "# ValueError for what there is not",
        'class A:\n    """A user is told."""',
    ],
)
def test_homely_prose_is_found(plant: Plant, text: str) -> None:
    assert len(homely_prose(plant({"model/tensor.py": text}))) == 1


def test_other_prose_is_fine(plant: Plant) -> None:
    text = '"""We recommend what there are two of."""\nx = "nobody"\n# amend it'
    assert homely_prose(plant({"model/tensor.py": text})) == []
