"""The reference of JSON documents: one page per kind, from what the commands really print.

    commands (json_kinds.toml) ──run──> documents ──trimmed──> docs/reference/json/KIND.json ──> KIND.md
    meanings (json_kinds.toml) ────────────────────────────────────────────────────────────────┘
    classes  (json_kinds.toml) ──msgspec──> docs/reference/json/KIND.schema.json

`record` runs the commands on the models that ship with the package; pages are made from what it kept, so that
making them again needs no run. Tests hold what commands print now against the pages, and the fields of the
classes against those that have a meaning here.
"""

from __future__ import annotations

import importlib
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from docs_tables import cell_code

from outlive import demo_models
from outlive.records import schema_of

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "reference" / "json"
KINDS = Path(__file__).resolve().parent / "json_kinds.toml"
_MOST_ITEMS, _MOST_TEXT = 2, 160
# Runs a command line in a folder: its exit code, its output, its standard error.
Run = Callable[[list[str], Path], tuple[int, str, str]]


def kinds() -> dict[str, dict[str, Any]]:
    """By kind: the `command` that prints it, what it is `about`, `fields`; some have `before`, `written`."""
    return tomllib.loads(KINDS.read_text("utf-8"))


def json_pages() -> dict[Path, str]:
    """The pages of all kinds, and the page that lists them."""
    pages = {FOLDER / f"{name}.md": _page(name, kind) for name, kind in kinds().items()}
    for name, kind in kinds().items():
        text = json.dumps(schema_of(classes_of(kind)), indent=1, ensure_ascii=False)
        pages[FOLDER / f"{name}.schema.json"] = text + "\n"
    pages[FOLDER / "index.md"] = _index()
    return pages


def classes_of(kind: dict[str, Any]) -> list[type]:
    """The classes that say what is in documents of a kind; the first is the result's own."""
    places = (place.rpartition(".") for place in kind["classes"])
    return [getattr(importlib.import_module(f"outlive.{module}"), name) for module, _, name in places]


def class_fields(kind: dict[str, Any]) -> list[str]:
    """Every field that the result's class puts into a document: "model.path", "ops[].type"."""
    schema: Any = schema_of(classes_of(kind)[:1])
    return list(dict.fromkeys(_schema_fields(schema, schema["$defs"], opaque_fields(kind), "")))


def _schema_fields(part: Any, parts: Any, opaque: frozenset[str], path: str) -> Iterator[str]:
    if path in opaque:
        return
    if "$ref" in part:
        yield from _schema_fields(parts[part["$ref"].rpartition("/")[2]], parts, opaque, path)
    for one in part.get("anyOf", ()):
        yield from _schema_fields(one, parts, opaque, path)
    if isinstance(part.get("items"), dict):
        yield from _schema_fields(part["items"], parts, opaque, f"{path}[]")
    for name, inner in part.get("properties", {}).items():
        field = f"{path}.{name}" if path else name
        yield field
        yield from _schema_fields(inner, parts, opaque, field)


def run_kind(kind: dict[str, Any], folder: Path, run: Run | None = None) -> Any:
    """The document that the kind's command prints in a folder that has the demo models."""
    for model in demo_models.DEMO_MODELS:
        source = demo_models.path(model.name)
        (folder / source.name).write_bytes(source.read_bytes())
    for line in kind.get("before", ()):
        subprocess.run(["bash", "-c", line], cwd=folder, check=True, capture_output=True)
    words = [*shlex.split(kind["command"]), "--format", "json"]
    code, output, errors = (run or _run)(words, folder)
    if code not in (0, 1, 3, 4):
        raise RuntimeError(f"{kind['command']} ended with {code}: {errors}")
    written = kind.get("written")
    document = json.loads(output if written is None else (folder / written).read_text("utf-8"))
    return _at(document, kind["part"]) if "part" in kind else document


def _run(words: list[str], folder: Path) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "outlive", *words[1:]]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def _at(document: Any, part: str) -> Any:
    """A part of a document, such as "findings.0"."""
    for step in part.split("."):
        document = document[int(step)] if step.isdigit() else document[step]
    return document


def record() -> None:
    """Run every command, and keep a trimmed copy of what it prints."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, kind in kinds().items():
        with tempfile.TemporaryDirectory() as folder:
            document = trim(run_kind(kind, Path(folder)), folder)
        (FOLDER / f"{name}.json").write_text(
            json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8"
        )
        print(f"recorded: {name}")


def trim(value: Any, folder: str) -> Any:
    """The document with lists cut to their first items, long texts cut, and no path of this machine."""
    if isinstance(value, dict):
        return {key: trim(item, folder) for key, item in value.items()}
    if isinstance(value, list):
        plain = all(not isinstance(item, (dict, list)) for item in value)
        return [trim(item, folder) for item in value[: 8 if plain else _MOST_ITEMS]]
    if isinstance(value, str):
        for place in (folder, str(Path(folder).resolve()), str(ROOT), str(Path.home()), sys.prefix):
            value = value.replace(place, "...")
        return value if len(value) <= _MOST_TEXT else value[: _MOST_TEXT - 3] + "..."
    return value


def fields_of(value: Any, opaque: frozenset[str], path: str = "") -> Iterator[str]:
    """Every field of a document: "model.path", "ops[].type"; what is opaque is not looked into."""
    if path in opaque:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            inner = f"{path}.{key}" if path else key
            yield inner
            yield from fields_of(item, opaque, inner)
    elif isinstance(value, list):
        for item in value:
            yield from fields_of(item, opaque, f"{path}[]")


def opaque_fields(kind: dict[str, Any]) -> frozenset[str]:
    """Fields that have a page of their own, or whose inside is not fixed."""
    found: set[str] = set()
    for field, said in kind["fields"].items():
        if said.startswith("* "):
            found.update((field, f"{field}[]"))
    return frozenset(found)


def undescribed(kind: dict[str, Any], document: Any) -> list[str]:
    """Fields of a document that the kind's page does not describe."""
    known = set(kind["fields"]) | {"schema", "kind"}
    return [field for field in dict.fromkeys(fields_of(document, opaque_fields(kind))) if field not in known]


def _page(name: str, kind: dict[str, Any]) -> str:
    sample = FOLDER / f"{name}.json"
    document = json.loads(sample.read_text("utf-8")) if sample.exists() else {}
    rows = ["| field | what it is | for example |", "|---|---|---|"]
    for field, said in kind["fields"].items():
        meaning = said.removeprefix("* ")
        rows.append(f"| `{field}` | {meaning} | {_example(document, field)} |")
    lines = [f"# {name}", "", kind["about"], ""]
    if "part" not in kind:
        lines += [f"`{kind['command']} --format json` prints it.", ""]
    lines += [*rows, "", f"[A real one, shortened]({name}.json). [Its JSON Schema]({name}.schema.json)."]
    return "\n".join(lines) + "\n"


_INTRODUCTION = """\
# JSON documents

Every document has `"schema": "outlive/1"` and a `"kind"`. Fields may be added under the same schema; none is
taken away or changes its meaning. Numbers that JSON cannot hold are the strings `"NaN"`, `"Infinity"` and
`"-Infinity"`. Bytes are whole numbers, times are seconds unless the name says milliseconds.

| kind | printed by | what it is |
|---|---|---|
"""


def _index() -> str:
    rows = ""
    for name, kind in kinds().items():
        words = kind["command"].split(" ")
        verb = "MODEL" if words[1].endswith(".tflite") else words[1]
        command = "" if "part" in kind else f"`outlive {verb}`"
        rows += f"| [{name}]({name}.md) | {command} | {kind['about']} |\n"
    return _INTRODUCTION + rows


def _example(document: Any, field: str) -> str:
    value: Any = document
    for step in field.replace("[]", ".0").split("."):
        try:
            value = value[int(step)] if step == "0" and isinstance(value, list) else value[step]
        except (KeyError, IndexError, TypeError):
            return ""
    if isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(v, (dict, list)) for v in value)
    ):
        return ""
    shown = json.dumps(value, ensure_ascii=False)
    return cell_code((shown if len(shown) <= 60 else shown[:57] + "...").replace("`", "'"))
