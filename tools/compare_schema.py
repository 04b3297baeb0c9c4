"""Compares our schema data with the schema module of an installed ai-edge-litert, and can add what is new.

    python tools/compare_schema.py            say what differs; exit 0 if nothing does, else 1
    python tools/compare_schema.py --write    add new values, members, fields and tables to schema.json

    schema_py_generated.py ──ast──> Outline ──┐
                                              ├──> differences, in words ──> exit status
    src/outlive/model/schema.json ────────────┘

The module is parsed, never imported: an import of any part of ai_edge_litert loads its native library.
What only we have is said and is no error, for our data may be newer than the wheel.
Other pairs can be given: --schema src/outlive/model/metadata_schema.json --module FILE.
"""

from __future__ import annotations

import argparse
import ast
import importlib.metadata
import importlib.util
import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

SCHEMA = Path(__file__).parent.parent / "src" / "outlive" / "model" / "schema.json"
PACKAGE, DISTRIBUTION = "ai_edge_litert", "ai-edge-litert"

Document = dict[str, Any]


class Slot(NamedTuple):
    """One field as the generated code shows it: enums only as the scalar that carries them."""

    name: str
    type: str
    default: float


@dataclass(slots=True)
class Outline:
    """What a generated module says: enums, unions, and per table its fields by slot and its slot count."""

    enums: dict[str, dict[str, int]] = field(default_factory=dict)
    unions: dict[str, list[str]] = field(default_factory=dict)
    tables: dict[str, dict[int, Slot]] = field(default_factory=dict)
    slot_counts: dict[str, int] = field(default_factory=dict)


class Difference(NamedTuple):
    """One difference in words; `only ours` is no error."""

    kind: Literal["missing", "different", "only ours"]
    text: str


def outline(source: str) -> Outline:
    """The schema behind the code that the FlatBuffers compiler generated from it."""
    found = Outline()
    body = ast.parse(source).body
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    functions = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
    for name, node in classes.items():
        values = _constants(node)
        if f"{name}Creator" in functions:
            found.unions[name] = sorted(values, key=lambda member: values[member])
        elif values:
            found.enums[name] = values
        elif f"{name}Start" in functions:
            found.tables[name] = _slots(node, _unions_of_fields(classes.get(f"{name}T")))
            found.slot_counts[name] = _slot_count(functions[f"{name}Start"])
    return found


def _constants(node: ast.ClassDef) -> dict[str, int]:
    pairs = ((item.targets[0], item.value) for item in node.body if isinstance(item, ast.Assign))
    return {
        target.id: int(ast.literal_eval(value))
        for target, value in pairs
        if isinstance(target, ast.Name) and not target.id.startswith("_")
    }


def _slot_count(start: ast.FunctionDef) -> int:
    return next(int(n.args[0].value) for n in ast.walk(start) if isinstance(n, ast.Call))  # type: ignore[attr-defined]


def _unions_of_fields(unpacked: ast.ClassDef | None) -> dict[str, str]:
    """Which union each field is, from the calls `self.details = QuantizationDetailsCreator(...)`."""
    unions = {}
    for node in ast.walk(unpacked) if unpacked else ():
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            target, function = ast.unparse(node.targets[0]), ast.unparse(node.value.func)
            if target.startswith("self.") and function.endswith("Creator"):
                unions[camel(target.removeprefix("self."))] = function.removesuffix("Creator")
    return unions


def _slots(node: ast.ClassDef, unions: Mapping[str, str]) -> dict[int, Slot]:
    accessors: dict[int, ast.FunctionDef] = {}
    for method in node.body:
        offset = re.search(r"self\._tab\.Offset\((\d+)\)", ast.unparse(method))
        if isinstance(method, ast.FunctionDef) and offset:
            slot = (int(offset[1]) - 4) // 2
            # The plain accessor comes first; ...AsNumpy, ...Length and ...IsNone of the slot follow it.
            accessors.setdefault(slot, method)
    slots = {}
    for slot, method in accessors.items():
        name, kind = method.name, _type(method, unions)
        if name.endswith("Type") and name.removesuffix("Type") in unions:
            kind = f"union-tag {unions[name.removesuffix('Type')]}"
        slots[slot] = Slot(name, kind, _default(method) if not kind.startswith("[") else 0)
    return slots


def _type(method: ast.FunctionDef, unions: Mapping[str, str]) -> str:
    text = ast.unparse(method)
    table = re.search(r"obj = (\w+)\(\)", text)
    scalar = re.search(r"self\._tab\.Get\(flatbuffers\.number_types\.(\w+)Flags", text)
    if "self._tab.Union(" in text:
        return f"union {unions[method.name]}"
    if "self._tab.String(" in text:
        kind = "string"
    elif table:
        kind = table[1]
    elif scalar:
        kind = scalar[1].lower()
    else:
        raise ValueError(f"the accessor {method.name} has a form this tool does not know")
    return f"[{kind}]" if len(method.args.args) > 1 else kind


def _default(method: ast.FunctionDef) -> float:
    last = method.body[-1]
    assert isinstance(last, ast.Return)
    assert last.value is not None
    return float(ast.literal_eval(last.value) or 0)


def camel(name: str) -> str:
    """A field's name as the generated code spells it: `stride_w` becomes `StrideW`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def snake(name: str) -> str:
    """The way back, as near as it can be had."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def compare(ours: Document, theirs: Outline) -> list[Difference]:
    """Every difference between our data and the module."""
    return [
        *_compare_enums(ours["enums"], theirs.enums),
        *_compare_unions(ours["unions"], theirs.unions),
        *_compare_tables(ours, theirs),
    ]


def _only(ours: Mapping[str, Any], theirs: Mapping[str, Any], what: str) -> Iterator[Difference]:
    yield from (Difference("missing", f"{what} {name}") for name in theirs if name not in ours)
    yield from (Difference("only ours", f"{what} {name}") for name in ours if name not in theirs)


def _compare_enums(ours: Document, theirs: Mapping[str, dict[str, int]]) -> Iterator[Difference]:
    yield from _only(ours, theirs, "enum")
    for enum in (name for name in theirs if name in ours):
        values = ours[enum]["values"]
        yield from _only(values, theirs[enum], f"enum {enum}: value")
        for name, number in theirs[enum].items():
            if values.get(name, number) != number:
                yield Difference("different", f"enum {enum}: {name} is {number}, ours says {values[name]}")


def _compare_unions(ours: Document, theirs: Mapping[str, list[str]]) -> Iterator[Difference]:
    yield from _only(ours, theirs, "union")
    for union in (name for name in theirs if name in ours):
        for tag, (mine, other) in enumerate(zip(ours[union], theirs[union], strict=False)):
            if mine != other:
                yield Difference("different", f"union {union}: member {tag} is {other}, ours says {mine}")
        shared = min(len(ours[union]), len(theirs[union]))
        yield from (Difference("missing", f"union {union}: member {m}") for m in theirs[union][shared:])
        yield from (Difference("only ours", f"union {union}: member {m}") for m in ours[union][shared:])


def _compare_tables(ours: Document, theirs: Outline) -> Iterator[Difference]:
    yield from _only(ours["tables"], theirs.tables, "table")
    for table in (name for name in theirs.tables if name in ours["tables"]):
        rows, count = ours["tables"][table], theirs.slot_counts[table]
        for slot, other in theirs.tables[table].items():
            if slot < len(rows):
                yield from _compare_field(f"table {table}, slot {slot}", rows[slot], other, ours["enums"])
        for slot in range(len(rows), count):
            known = theirs.tables[table].get(slot)
            # A slot without an accessor is a deprecated field: it has a place and no name.
            text = f"{known.name} ({known.type})" if known else "a deprecated field"
            yield Difference("missing", f"table {table}, slot {slot}: {text}")
        yield from (Difference("only ours", f"table {table}: field {row[0]}") for row in rows[count:])


def _compare_field(where: str, row: list[Any], other: Slot, enums: Document) -> Iterator[Difference]:
    name, written, default = row[0], row[1], row[2] if len(row) > 2 else 0
    if camel(name) != other.name:
        yield Difference("different", f"{where}: the field is {other.name}, ours says {camel(name)}")
    if _wire(written, enums) != other.type:
        yield Difference("different", f"{where}: {other.name} is {other.type}, ours says {written}")
    if default != other.default:
        said = f"{other.name} defaults to {other.default:g}, ours says {default}"
        yield Difference("different", f"{where}: {said}")


def _wire(written: str, enums: Document) -> str:
    element = written.removeprefix("[").removesuffix("]")
    wire: str = enums[element]["type"] if element in enums else element
    return f"[{wire}]" if written.startswith("[") else wire


def add_missing(ours: Document, theirs: Outline) -> None:
    """Put what is missing into our data; what differs is left for a person to judge."""
    for enum, values in theirs.enums.items():
        # The generated code does not say which scalar carries an enum; in the schema it is mostly a byte.
        entry = ours["enums"].setdefault(enum, {"type": "int8", "values": {}})
        entry["values"] |= {name: number for name, number in values.items() if name not in entry["values"]}
    for union, members in theirs.unions.items():
        known = ours["unions"].setdefault(union, [])
        known += members[len(known) :]
    for table, slots in theirs.tables.items():
        rows = ours["tables"].setdefault(table, [])
        for slot in range(len(rows), theirs.slot_counts[table]):
            name, kind, default = slots.get(slot, Slot(f"Deprecated{slot}", "uint32", 0))
            number = int(default) if default == int(default) else default
            rows.append([snake(name), kind, number] if number else [snake(name), kind])


def dump(document: Document) -> str:
    """The document in the layout we keep it in: one line per enum, union and table."""
    lines = [f" {json.dumps(key)}: {_dump_section(value)}" for key, value in document.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _dump_section(value: object) -> str:
    if not isinstance(value, dict):
        return json.dumps(value)
    entries = ",\n".join(f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in value.items())
    return f"{{\n{entries}\n }}"


def installed_module() -> Path:
    """Where the generated module of the installed runtime is, found without importing it."""
    spec = importlib.util.find_spec(PACKAGE)
    places = [] if spec is None else [Path(p) for p in spec.submodule_search_locations or ()]
    for place in places:
        if (place / "schema_py_generated.py").is_file():
            return place / "schema_py_generated.py"
    raise SystemExit(f"{sys.executable} has no {DISTRIBUTION}; install it, or name a file with --module")


def main(arguments: list[str] | None = None) -> int:
    """Compare, say what differs, and write if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--schema", type=Path, default=SCHEMA, help="our data (default: %(default)s)")
    parser.add_argument("--module", type=Path, help="a schema_py_generated.py (default: the installed one)")
    parser.add_argument("--write", action="store_true", help="add what is missing to our data")
    chosen = parser.parse_args(arguments)
    ours: Document = json.loads(chosen.schema.read_text("utf-8"))
    version = importlib.metadata.version(DISTRIBUTION) if chosen.module is None else ""
    against = f"{DISTRIBUTION} {version}" if version else str(chosen.module)
    theirs = outline((chosen.module or installed_module()).read_text("utf-8"))
    if chosen.write:
        before = len(compare(ours, theirs))
        add_missing(ours, theirs)
        ours |= {"matches": against} if "matches" in ours and not chosen.module else {}
        chosen.schema.write_text(dump(ours), "utf-8")
        print(f"wrote {chosen.schema}; {before - len(compare(ours, theirs))} differences are gone")
    differences = compare(ours, theirs)
    errors = [difference for difference in differences if difference.kind != "only ours"]
    for kind, text in differences:
        print(f"{kind}: {text}")
    print(f"{chosen.schema.name} {'differs from' if errors else 'equals'} {against}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
