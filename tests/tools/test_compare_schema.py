"""Our schema data equals the installed runtime's, and the tool that says so can say otherwise."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tools import compare_schema
from tools.compare_schema import Difference, Document, Outline, add_missing, compare, dump, outline

METADATA = compare_schema.SCHEMA.with_name("metadata_schema.json")


@pytest.fixture(scope="module")
def theirs() -> Outline:
    return outline(compare_schema.installed_module().read_text("utf-8"))


@pytest.fixture
def ours() -> Document:
    document: Document = json.loads(compare_schema.SCHEMA.read_text("utf-8"))
    return document


def errors(ours: Document, theirs: Outline) -> list[Difference]:
    return [difference for difference in compare(ours, theirs) if difference.kind != "only ours"]


def test_our_schema_equals_the_installed_runtimes(ours: Document, theirs: Outline) -> None:
    assert errors(ours, theirs) == []


def test_all_of_the_module_is_seen(theirs: Outline) -> None:
    assert len(theirs.enums["TensorType"]) >= 23
    assert len(theirs.enums["BuiltinOperator"]) >= 210
    assert len(theirs.unions["BuiltinOptions"]) >= 127
    assert len(theirs.tables) >= 165
    assert theirs.slot_counts["Operator"] == len(theirs.tables["Operator"]) >= 14
    kinds = {slot.type.split()[0] for table in theirs.tables.values() for slot in table.values()}
    assert kinds >= {"bool", "int8", "int32", "uint32", "uint64", "float32", "string", "union", "union-tag"}
    assert kinds >= {"[int32]", "[int64]", "[float32]", "[bool]", "[uint8]", "[Tensor]", "SparsityParameters"}


def _swap(rows: list[Any], one: int, other: int) -> None:
    rows[one], rows[other] = rows[other], rows[one]


PLANTED: dict[str, tuple[Callable[[Document], object], str]] = {
    "two fields of different types swapped": (
        lambda d: _swap(d["tables"]["Tensor"], 2, 3),
        "different: table Tensor, slot 2: the field is Buffer, ours says Name",
    ),
    "two fields of one type swapped": (
        lambda d: _swap(d["tables"]["Conv2DOptions"], 1, 2),
        "different: table Conv2DOptions, slot 1: the field is StrideW, ours says StrideH",
    ),
    "a field dropped from the end": (
        lambda d: d["tables"]["AddOptions"].pop(),
        "missing: table AddOptions, slot 1: PotScaleInt16 (bool)",
    ),
    "a deprecated field dropped": (
        lambda d: d["tables"]["ResizeBilinearOptions"].pop(0),
        "table ResizeBilinearOptions, slot 2: the field is AlignCorners, ours says HalfPixelCenters",
    ),
    "a table dropped": (lambda d: d["tables"].pop("GeluOptions"), "missing: table GeluOptions"),
    "a wrong default": (
        lambda d: d["tables"]["Conv2DOptions"][4].__setitem__(2, 2),
        "different: table Conv2DOptions, slot 4: DilationWFactor defaults to 1, ours says 2",
    ),
    "a default forgotten": (
        lambda d: d["tables"]["UniqueOptions"][0].pop(),
        "different: table UniqueOptions, slot 0: IdxOutType defaults to 2, ours says 0",
    ),
    "a wrong scalar": (
        lambda d: d["tables"]["SoftmaxOptions"][0].__setitem__(1, "float64"),
        "different: table SoftmaxOptions, slot 0: Beta is float32, ours says float64",
    ),
    "a wrong element": (
        lambda d: d["tables"]["SubGraph"][0].__setitem__(1, "[Buffer]"),
        "different: table SubGraph, slot 0: Tensors is [Tensor], ours says [Buffer]",
    ),
    "a wrong union": (
        lambda d: d["tables"]["Operator"][4].__setitem__(1, "union BuiltinOptions2"),
        "slot 4: BuiltinOptions is union BuiltinOptions, ours says union BuiltinOptions2",
    ),
    "an enum carried by another scalar": (
        lambda d: d["enums"]["Padding"].__setitem__("type", "int32"),
        "different: table Conv2DOptions, slot 0: Padding is int8, ours says Padding",
    ),
    "an enum dropped": (lambda d: d["enums"].pop("RngAlgorithm"), "missing: enum RngAlgorithm"),
    "an enum value dropped": (
        lambda d: d["enums"]["TensorType"]["values"].pop("INT4"),
        "missing: enum TensorType: value INT4",
    ),
    "an enum value of another number": (
        lambda d: d["enums"]["Padding"]["values"].update(VALID=2),
        "different: enum Padding: VALID is 1, ours says 2",
    ),
    "two union members swapped": (
        lambda d: _swap(d["unions"]["BuiltinOptions"], 1, 2),
        "different: union BuiltinOptions: member 1 is Conv2DOptions, ours says DepthwiseConv2DOptions",
    ),
    "a union member dropped": (
        lambda d: d["unions"]["QuantizationDetails"].pop(),
        "missing: union QuantizationDetails: member MultiAxisQuantization",
    ),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_reported(fault: str, ours: Document, theirs: Outline) -> None:
    plant, text = PLANTED[fault]
    plant(ours)
    assert any(text in f"{kind}: {said}" for kind, said in errors(ours, theirs))


def test_what_only_we_have_is_said_and_is_no_error(ours: Document, theirs: Outline) -> None:
    ours["tables"]["NewOptions"] = []
    ours["tables"]["Metadata"].append(["more", "string"])
    ours["enums"]["Padding"]["values"]["CIRCULAR"] = 2
    ours["unions"]["BuiltinOptions2"].append("NewOptions")
    said = {text for kind, text in compare(ours, theirs) if kind == "only ours"}
    assert {
        "table NewOptions",
        "table Metadata: field more",
        "enum Padding: value CIRCULAR",
        "union BuiltinOptions2: member NewOptions",
    } <= said
    assert errors(ours, theirs) == []


@pytest.mark.parametrize("path", [compare_schema.SCHEMA, METADATA], ids=lambda path: path.name)
def test_writing_keeps_the_layout(path: Path) -> None:
    text = path.read_text("utf-8")
    assert dump(json.loads(text)) == text


def test_what_was_dropped_is_written_back(ours: Document, theirs: Outline) -> None:
    whole = copy.deepcopy(ours)
    ours["tables"]["AddOptions"].pop()
    ours["tables"]["Operator"].pop()
    del ours["tables"]["MaximumMinimumOptions"]
    ours["tables"]["LSTMOptions"].pop()
    del ours["enums"]["TensorType"]["values"]["FLOAT8_E5M2"]
    ours["unions"]["QuantizationDetails"].pop()
    assert len(errors(ours, theirs)) == 6
    add_missing(ours, theirs)
    assert ours["tables"] == whole["tables"]
    assert ours == whole


def test_a_deprecated_slot_is_kept_free(ours: Document, theirs: Outline) -> None:
    del ours["tables"]["ResizeBilinearOptions"]
    add_missing(ours, theirs)
    names = [row[0] for row in ours["tables"]["ResizeBilinearOptions"]]
    assert names == ["deprecated0", "deprecated1", "align_corners", "half_pixel_centers"]
    assert errors(ours, theirs) == []


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, compare_schema.__file__, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_the_command_says_tells_and_mends(ours: Document, tmp_path: Path) -> None:
    whole = dump(ours)
    path = tmp_path / "schema.json"
    ours["enums"]["TensorType"]["values"].pop("FLOAT8_E5M2")
    path.write_text(dump(ours), "utf-8")
    first = run("--schema", path)
    assert (first.returncode, first.stdout.splitlines()[0]) == (
        1,
        "missing: enum TensorType: value FLOAT8_E5M2",
    )
    assert run("--schema", path, "--write").returncode == 0
    assert path.read_text("utf-8") == whole
    last = run("--schema", path)
    assert (last.returncode, last.stdout) == (0, f"schema.json equals {ours['matches']}\n")


def test_the_command_loads_no_part_of_the_runtime() -> None:
    program = f"""
import runpy, sys
try:
    runpy.run_path({compare_schema.__file__!r}, run_name="__main__")
except SystemExit as end:
    assert end.code == 0, end.code
assert not [name for name in sys.modules if "litert" in name or "tensorflow" in name]
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300, capture_output=True)
