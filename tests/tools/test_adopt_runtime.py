"""The tables are what the installed runtime gives, and what another would change is said."""

from __future__ import annotations

import copy
import dataclasses
import json
import sys
from pathlib import Path

import pytest

from outlive.kernels.xnnpack.node_memory import this_machine
from tools import adopt_runtime as tool
from tools.adopt_runtime import Document, Outcome, RuntimeFacts


@pytest.fixture(scope="module")
def installed() -> RuntimeFacts:
    return tool.facts_of(sys.executable)


@pytest.fixture
def demands() -> Document:
    document: Document = json.loads(tool.SIGNATURES.read_text("utf-8"))
    return document


def test_our_tables_are_those_of_the_installed_runtime(installed: RuntimeFacts) -> None:
    for path, text in tool.regenerated(installed).items():
        assert text == path.read_text("utf-8"), path.name


def test_nothing_changes_with_the_installed_runtime(installed: RuntimeFacts, demands: Document) -> None:
    schema = json.loads(tool.SCHEMA.read_text("utf-8"))
    assert not [line for line in tool.schema_changes(schema, installed) if not line.startswith("only ours")]
    assert list(tool.operator_changes(installed, demands)) == []
    assert list(tool.kernel_changes(installed, installed)) == []
    assert list(tool.tile_changes(installed, installed)) == []


def test_the_library_chooses_here_what_the_table_says_of_this_machine(installed: RuntimeFacts) -> None:
    """Its choice for the processor as it is: nothing was set for it."""
    here, name = installed.tiles[""], this_machine()
    row = json.loads(tool.TILES.read_text("utf-8"))["instruction_sets"][name]
    assert here["gemm"] == row["gemm"]
    assert here["dwconv"] == {kind: row["dwconv"][kind] for kind in here["dwconv"]}
    assert here["vmulcaddc"] == row["vmulcaddc"]


def test_another_choice_of_tiles_is_said_and_written(installed: RuntimeFacts) -> None:
    tiles = copy.deepcopy(dict(installed.tiles))
    tiles["x86-avx2"]["gemm"]["f32_gemm"][1] = 24
    new = dataclasses.replace(installed, tiles=tiles)
    said = list(tool.tile_changes(new, installed))
    assert any(line.startswith("x86-avx2: f32_gemm [6, 24, ") for line in said)
    ours = json.loads(tool.TILES.read_text("utf-8"))["instruction_sets"]
    written = json.loads(tool.regenerated(new)[tool.TILES])["instruction_sets"]
    assert [name for name in ours if written[name] != ours[name]] == ["x86-avx2"]


def test_other_versions_of_operators_are_said_and_written(installed: RuntimeFacts, demands: Document) -> None:
    versions = {**installed.op_versions, "ADD": (1, 9), "NEW_OP": (1, 1)}
    del versions["ABS"]
    new = dataclasses.replace(installed, op_versions=versions, version="9.9.9")
    last = demands["operators"]["ADD"]["versions"][1]
    said = list(tool.operator_changes(new, demands))
    assert f"ADD: versions 1 to 9, ours 1 to {last}" in said
    assert "NEW_OP: versions 1 to 1, ours none" in said
    assert any(line.startswith("ABS: versions none, ours 1 to ") for line in said)
    written = tool.regenerated(new)
    assert json.loads(written[tool.SIGNATURES])["operators"]["ADD"]["versions"] == [1, 9]
    assert json.loads(written[tool.SCHEMA])["matches"] == "ai-edge-litert 9.9.9"
    assert 'LITERT_VERSION = "9.9.9"' in written[tool.TABLES]


def test_a_new_operator_is_said_and_written(installed: RuntimeFacts, demands: Document) -> None:
    schema = copy.deepcopy(installed.schema)
    number = len(schema.enums["BuiltinOperator"])
    schema.enums["BuiltinOperator"]["NEW_OP"] = number
    new = dataclasses.replace(installed, schema=schema)
    assert f"NEW_OP: operator {number}, which kernel_names does not have in that place" in list(
        tool.operator_changes(new, demands)
    )
    names: dict[str, object] = {}
    head, begin, rest = tool.regenerated(new)[tool.KERNEL_NAMES].partition("_OPERATORS_TEXT = ")
    exec(begin + rest.partition('\n"""')[0] + '\n"""', names)
    assert head
    assert str(names["_OPERATORS_TEXT"]).split()[number] == "NEW_OP"


def test_kernels_that_came_and_went_are_said(installed: RuntimeFacts) -> None:
    name = "tflite::ops::builtin::unheard_of::Eval"
    new = dataclasses.replace(
        installed,
        kernel_functions=installed.kernel_functions | {name},
        unnamed_functions=installed.unnamed_functions | {name},
    )
    assert list(tool.kernel_changes(new, installed)) == [f"new, and no operator is known for it: {name}"]
    assert list(tool.kernel_changes(installed, new)) == [f"gone: {name}"]


@pytest.mark.parametrize(
    ("kernel", "said"),
    [
        ("xnn_f32_gemm_minmax_ukernel_4x8__", "x86-sse4.1: f32_gemm 4x8 has no microkernel any more"),
        ("xnn_f32_dwconv_minmax_ukernel_9p8c__", "x86-sse4.1: f32_dwconv 9p8c has no microkernel any more"),
    ],
)
def test_tiles_without_a_microkernel_are_said(installed: RuntimeFacts, kernel: str, said: str) -> None:
    left = {name for name in installed.microkernels if not name.startswith(kernel)}
    assert len(left) < len(installed.microkernels), "this test is about kernels of x86"
    new = dataclasses.replace(installed, microkernels=frozenset(left))
    assert said in list(tool.tile_changes(new, installed))
    kind = said.split()[1]
    assert any(line.startswith(f"new: {kind} ") for line in tool.tile_changes(installed, new))


def test_models_that_end_lie_or_weigh_otherwise_are_said() -> None:
    old = [
        Outcome(name="same", planned_bytes=10**6, peak_bytes=10**6),
        Outcome(name="refused"),
        Outcome(name="moved"),
        Outcome(name="heavier", planned_bytes=10**6, peak_bytes=10**6),
    ]
    new = [
        Outcome(name="same", planned_bytes=10**6, peak_bytes=10**6 + 5000),
        Outcome(name="refused", error="Didn't find op"),
        Outcome(name="moved", differs=("sizes of tensors [3]",)),
        Outcome(name="heavier", planned_bytes=10**6, peak_bytes=2 * 10**6),
    ]
    assert list(tool.model_changes(new, old)) == [
        "refused: Didn't find op; installed: allocates",
        "moved: offsets sizes of tensors [3]; installed: as planned",
        "heavier: planned 1,000,000, peak 2,000,000; installed 1,000,000",
    ]


def test_tables_are_written_beside_ours(
    installed: RuntimeFacts,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(tool, "ADOPTED", tool.REPOSITORY / "build" / tmp_path.name)
    tool.write_tables(installed, in_place=False)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert all(line.endswith(": as it is") for line in lines)
