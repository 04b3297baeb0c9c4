"""Accelerators that are not to be had here: a compiler without its NPU, and documents."""

from __future__ import annotations

import pytest

import outlive
from outlive.accelerators import vela
from outlive.accelerators.probe import UNKNOWN, _tables, documented_coverage
from outlive.accelerators.vela import VelaResult, see_vela
from outlive.model.schema import load_schema
from outlive.surgery import write
from tests.accelerators.small_models import SHAPE, line
from tests.interpreter.dropin_models import graph, model, op
from tests.model.small import tensor

WORDS = """\
Warning (supported operators) operator: MUL, ofm: 't2'
Reason: Operation has tensor with unsupported DataType Float32 (t1)
Feature-map dataTypes must be one of {"INT8"}

"""


def compiled() -> VelaResult:
    """ADD, MUL, ADD as Vela would leave them: the two ADD on the NPU, MUL still there."""
    tensors = [tensor(f"t{index}", "FLOAT32", SHAPE) for index in range(4)]
    steps = op(0, [0], [1]), op(1, [1, 1], [2], "Mul"), op(0, [2], [3])
    custom = {"builtin_code": "CUSTOM", "custom_code": "ethos-u"}
    made = write(
        {
            "version": 3,
            "operator_codes": [custom, {"builtin_code": "MUL"}],
            "buffers": [{}],
            "subgraphs": [graph(tensors, [0], [3], *steps)],
        }
    )
    return VelaResult(words=WORDS, model=outlive.read(made))


def test_what_is_still_in_the_compiled_model_stays_on_the_cpu() -> None:
    taken = see_vela(outlive.read(line("ADD", "MUL", "ADD")), compiled())
    assert (taken.taken, taken.partitions) == ((0, 2), 2)
    (refusal,) = taken.refused
    assert (refusal.op, refusal.type) == (1, "MUL")
    assert "unsupported DataType Float32 (t1)" in refusal.reason
    assert "not run" in taken.notes[0]


def test_a_model_that_it_does_not_compile_has_its_words() -> None:
    taken = see_vela(outlive.read(line("ADD")), VelaResult(words="", model=None, error="no networks"))
    assert (taken.ops_taken, taken.error) == (None, "no networks")


def test_without_vela_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vela, "is_installed", lambda: False)
    seen = outlive.probe(line("ADD"), only=["ethos-u"], cache=False)["ethos-u"]
    assert (seen.outcome, seen.install) == ("absent", "pip install ethos-u-vela")


@pytest.mark.skipif(not vela.is_installed(), reason="needs Arm's compiler: pip install ethos-u-vela")
def test_vela_for_real_leaves_floats_to_the_cpu() -> None:
    seen = outlive.probe(line("ADD", "MUL"), only=["ethos-u"], cache=False)["ethos-u"]
    assert (seen.outcome, seen.ops_taken, seen.runs) == ("compiles", 0, None)


def test_documents_are_named_with_version_and_date() -> None:
    found = documented_coverage(outlive.read(line("ADD", "ATAN2")))
    assert [one.name for one in found] == ["android-gpu", "coreml", "hexagon"]
    for one in found:
        assert one.document.endswith("google-ai-edge/LiteRT")
        assert one.version.startswith("commit ")
        assert one.date


def test_an_operator_that_is_not_listed() -> None:
    coreml = documented_coverage(outlive.read(line("ADD", "ATAN2")))[1]
    assert (coreml.ops_listed, coreml.ops_total) == (1, 2)
    assert [(item.op, item.reason) for item in coreml.refused] == [(1, "not in its table")]
    assert coreml.conditions == (("ADD", "only some shapes are broadcast"),)


def test_a_type_and_a_rank_that_the_document_leaves_out() -> None:
    hexagon = documented_coverage(outlive.read(line("ADD")))[2]
    assert "it makes float32" in hexagon.refused[0].reason
    five = [tensor(name, "INT8", [1, 1, 1, 1, 2]) for name in ("x", "y")]
    deep = model(["RELU"], graph(five, [0], [1], op(0, [0], [1])))
    assert "more than 4 dimensions" in documented_coverage(outlive.read(deep))[2].refused[0].reason


def test_every_listed_operator_is_one_of_the_schema() -> None:
    known = set(load_schema().enums["BuiltinOperator"].names.values())
    for table in _tables():
        assert set(table.operators) <= known


def test_what_has_no_table_is_unknown() -> None:
    coverage = outlive.probe(line("ADD"), only=["xnnpack"], cache=False)
    assert coverage.unknown == UNKNOWN
    assert "edge-tpu" in UNKNOWN
