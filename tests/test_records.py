"""A class says what is in its document; the document, its schema and reading it back come from there."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import jsonschema
import pytest

from outlive.records import (
    NOT_WRITTEN,
    ModelPath,
    document_of,
    in_document,
    part_of,
    read_part,
    read_result,
    schema_of,
    written,
)
from outlive.rendering.media.json import Refused


class Colour(str, Enum):
    RED = "red"


class Pair(NamedTuple):
    name: str
    size: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    left: int
    own: str = ""

    @property
    @in_document("own", own=True)
    def told(self) -> str:
        return self.own.upper()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    kind: ClassVar[str] = "planted"

    name: str = field(metadata=written("called"))
    empty: str = field(default="", metadata=written(null=True))
    rare: int = field(default=0, metadata=written(omit=True))
    view: memoryview = field(default=memoryview(b"abc"), compare=False, metadata=NOT_WRITTEN)
    sizes: tuple[float, ...] = ()
    pairs: tuple[Pair, ...] = ()
    shapes: Mapping[int, tuple[int, int]] = field(default_factory=dict, metadata=NOT_WRITTEN)
    inner: Inner | None = field(default=None, metadata=written(flat=True))
    colour: Colour = Colour.RED
    place: Path = Path("x")
    anything: Any = None
    findings: tuple[str, ...] = ()

    @property
    @in_document("shapes", back=lambda rows: {"shapes": dict(rows)})
    def rows(self) -> tuple[tuple[int, tuple[int, int]], ...]:
        return tuple(self.shapes.items())

    @property
    @in_document()
    def model(self) -> ModelPath:
        return ModelPath(path=self.name)

    @property
    def not_told(self) -> int:
        return 1


def made(**more: Any) -> Outer:
    return Outer(name="a", sizes=(1.0, math.nan, -math.inf), pairs=(Pair("b", math.inf),), **more)


def test_a_document_has_what_the_class_says_in_its_order() -> None:
    document = document_of(made(inner=Inner(left=3), shapes={7: (1, 2)}))
    assert list(document) == [
        "schema", "kind", "model", "called", "empty", "sizes", "pairs", "left", "colour", "place", "anything",
        "shapes", "findings",
    ]  # fmt: skip
    assert (document["schema"], document["kind"]) == ("outlive/1", "planted")
    assert (document["called"], document["empty"], document["left"]) == ("a", None, 3)
    assert document["sizes"] == [1.0, "NaN", "-Infinity"]
    assert document["pairs"] == [{"name": "b", "size": "Infinity"}]
    assert (document["shapes"], document["colour"], document["place"]) == ([[7, [1, 2]]], "red", "x")


def test_what_is_not_there_is_left_out() -> None:
    assert "left" not in document_of(made())
    assert "rare" not in document_of(made())
    assert document_of(made(rare=2))["rare"] == 2


def test_plain_tuples_do_for_named_ones() -> None:
    pairs: Any = (("c", 2.0),)
    assert part_of(Outer(name="a", pairs=pairs))["pairs"] == [{"name": "c", "size": 2.0}]


def test_strange_values_become_words() -> None:
    anything = {"view": memoryview(b"abc"), "many": (math.nan, [1]), "inner": Inner(left=1)}
    assert document_of(made(anything=anything))["anything"] == {
        "view": {"bytes": 3}, "many": ["NaN", [1]], "inner": {"left": 1},
    }  # fmt: skip


def test_somebody_else_may_say_it() -> None:
    document = document_of(made(), findings=("one",), model=ModelPath(path="z"))
    assert (document["findings"], document["model"]) == (["one"], {"path": "z"})


def test_a_refusal_has_the_kind_that_was_asked_for() -> None:
    refused = Refused(model=ModelPath(path="a"), findings=())
    assert document_of(refused, kind="plan") == {
        "schema": "outlive/1", "kind": "plan", "model": {"path": "a"}, "findings": [],
    }  # fmt: skip


def test_there_and_back() -> None:
    one = Outer(name="a", sizes=(1.0, math.inf), pairs=(Pair("b", 2.0),), shapes={7: (1, 2)}, rare=4)
    document = document_of(one)
    back = read_result(document, Outer)
    assert back == one
    assert document_of(back) == document
    assert isinstance(back.pairs[0], Pair)


def test_what_is_missing_has_its_default_and_what_is_new_is_ignored() -> None:
    document = {"schema": "outlive/1", "kind": "planted", "called": "a", "invented": 1}
    assert read_result(document, Outer) == Outer(name="a")


@pytest.mark.parametrize(
    "wrong",
    [
        {"called": 1}, {"sizes": ["much"]}, {"pairs": [{"name": "a"}]}, {"colour": "blue"}, {"kind": "plan"},
        {"schema": "outlive/2"}, {"rare": 2**70}, {"shapes": [[1]]}, {"findings": None}, {"rare": 1.5},
    ],
)  # fmt: skip
def test_other_types_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no document of kind planted"):
        read_result(document_of(made()) | wrong, Outer)


@pytest.mark.parametrize("wrong", [None, 1, [], "text", {"left": "x"}])
def test_other_parts_are_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="it is no Inner"):
        read_part(wrong, Inner)


def test_a_schema_says_what_is_always_there() -> None:
    schema: Any = schema_of([Outer])
    (part,) = [part for part in schema["$defs"].values() if part["title"] == "Outer"]
    assert "rare" not in part["required"]
    assert "left" not in part["required"]
    assert {"schema", "kind", "called", "sizes", "model", "findings"} <= set(part["required"])
    jsonschema.validate(document_of(made(rare=1, inner=Inner(left=1))), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document_of(made()) | {"sizes": [True]}, schema)


def test_the_classes_load_no_msgspec() -> None:
    code = "import sys, outlive.records, outlive.arena.plan; print('msgspec' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
