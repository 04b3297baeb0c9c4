"""What commands print as JSON is what the reference describes: every field has a meaning."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from outlive.records import schema_of

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from docs_json import (  # noqa: E402
    class_fields,
    classes_of,
    fields_of,
    json_pages,
    kinds,
    opaque_fields,
    run_kind,
    trim,
    undescribed,
)
from docs_server import PageServer  # noqa: E402

sys.path.pop(0)
KINDS = kinds()
FOLDER = ROOT / "docs" / "reference" / "json"


@pytest.mark.parametrize("name", KINDS)
def test_every_field_that_is_printed_is_described(name: str, tmp_path: Path, server: PageServer) -> None:
    def run(words: list[str], folder: Path) -> tuple[int, str, str]:
        done = server.run("outlive", words, folder)
        return done.code, done.output, done.errors

    document = run_kind(KINDS[name], tmp_path, run)
    assert undescribed(KINDS[name], document) == [], "put them into tools/json_kinds.toml and run `make docs`"
    jsonschema.validate(document, schema_of(classes_of(KINDS[name])))
    if "part" not in KINDS[name]:
        assert (document["schema"], document["kind"]) == ("outlive/1", name)


@pytest.mark.parametrize("name", KINDS)
def test_the_example_is_a_document_of_this_kind(name: str) -> None:
    sample = json.loads((ROOT / "docs" / "reference" / "json" / f"{name}.json").read_text("utf-8"))
    assert undescribed(KINDS[name], sample) == []
    seen = set(fields_of(sample, opaque_fields(KINDS[name])))
    top = {field for field in KINDS[name]["fields"] if "." not in field and "[" not in field}
    schema: Any = schema_of(classes_of(KINDS[name])[:1])
    optional = top - set(schema["$defs"][schema["$ref"].rpartition("/")[2]]["required"])
    assert top - seen - optional == set()


@pytest.mark.parametrize("name", KINDS)
def test_the_example_is_valid_by_its_schema(name: str) -> None:
    sample = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    jsonschema.validate(sample, json.loads((FOLDER / f"{name}.schema.json").read_text("utf-8")))


def test_the_schemas_are_those_of_the_classes() -> None:
    made = {path.name: text for path, text in json_pages().items() if path.name.endswith(".schema.json")}
    assert set(made) == {path.name for path in FOLDER.glob("*.schema.json")}
    stale = [name for name, text in made.items() if (FOLDER / name).read_text("utf-8") != text]
    assert stale == [], "run `make docs`"


@pytest.mark.parametrize("name", KINDS)
def test_every_field_of_a_class_has_a_meaning_and_the_reverse(name: str) -> None:
    held, told = set(class_fields(KINDS[name])) - {"schema", "kind"}, set(KINDS[name]["fields"])
    assert held - told == set(), "say in tools/json_kinds.toml what they are"
    assert told - held == set(), "no class puts them into a document"


def test_a_document_that_breaks_its_schema_is_noticed() -> None:
    sample = json.loads((FOLDER / "plan.json").read_text("utf-8"))
    schema = schema_of(classes_of(KINDS["plan"])[:1])
    for wrong in ({"peak_bytes": "many"}, {"kind": "run"}, {"ops": [{}]}, {"exact": None}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(sample | wrong, schema)
    with pytest.raises(jsonschema.ValidationError, match="total_bytes"):
        jsonschema.validate({key: value for key, value in sample.items() if key != "total_bytes"}, schema)


def test_every_kind_of_document_has_a_page() -> None:
    written = set()
    for path in (ROOT / "src" / "outlive").rglob("*.py"):
        written.update(re.findall(r'\bkind: ClassVar\[str\] = "([a-z-]+)"', path.read_text("utf-8")))
    # Lists for people at a terminal, rows of a table, a script, whose document is that of a run; and a
    # debugger, which is an object of Python only: a notebook shows it, no command prints it.
    assert written - set(KINDS) - {"blackbox", "notebook", "scan-row", "guard", "debugger"} == set()


def test_a_field_without_a_meaning_is_noticed() -> None:
    kind: dict[str, Any] = {"fields": {"a": "one", "b": "* many", "c": "list", "c[].d": "inside"}}
    sound = {"a": 1, "b": {"x": [{"y": 1}]}, "c": [{"d": 1}], "schema": "", "kind": ""}
    assert undescribed(kind, sound) == []
    assert undescribed(kind, {"a": {"z": 1}, "c": [{"d": 1, "e": 2}], "f": 0}) == ["a.z", "c[].e", "f"]


def test_an_example_tells_nothing_of_this_machine() -> None:
    told = trim({"path": f"{ROOT}/x", "many": [{"a": 1}] * 9, "long": "n" * 1000}, "nowhere")
    assert told["path"] == ".../x"
    assert len(told["many"]) == 2
    assert len(told["long"]) <= 160
