"""What commands print as JSON is what the reference describes: every field has a meaning."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.documents.page_server import PageServer

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from docs_json import fields_of, kinds, opaque_fields, run_kind, trim, undescribed  # noqa: E402

sys.path.pop(0)
KINDS = kinds()


@pytest.mark.parametrize("name", KINDS)
def test_every_field_that_is_printed_is_described(name: str, tmp_path: Path, server: PageServer) -> None:
    def run(words: list[str], folder: Path) -> tuple[int, str, str]:
        done = server.run("outlive", words, folder)
        return done.code, done.output, done.errors

    document = run_kind(KINDS[name], tmp_path, run)
    assert undescribed(KINDS[name], document) == [], "put them into tools/json_kinds.toml and run `make docs`"
    if "part" not in KINDS[name]:
        assert (document["schema"], document["kind"]) == ("outlive/1", name)


@pytest.mark.parametrize("name", KINDS)
def test_the_example_is_a_document_of_this_kind(name: str) -> None:
    sample = json.loads((ROOT / "docs" / "reference" / "json" / f"{name}.json").read_text("utf-8"))
    assert undescribed(KINDS[name], sample) == []
    seen = set(fields_of(sample, opaque_fields(KINDS[name])))
    top = {field for field in KINDS[name]["fields"] if "." not in field and "[" not in field}
    optional = {"sweep", "compare", "delegation", "inside", "machine", "planned", "resized", "variables"}
    assert top - seen - optional == set()


def test_every_kind_of_document_has_a_page() -> None:
    written = set()
    for path in (ROOT / "src" / "outlive").rglob("*.py"):
        written.update(re.findall(r'\bdocument\(\s*"([a-z-]+)"', path.read_text("utf-8")))
    # Lists for people at a terminal; what they are about has documents of its own.
    assert written - set(KINDS) - {"blackbox", "notebook"} == set()


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
