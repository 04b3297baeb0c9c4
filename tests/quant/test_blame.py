"""Planted faults: the layer with the fault is blamed, and those behind it, which only pass it on, are not."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import outlive
from outlive.quant import Drift, capture
from tests.model.small import Tree
from tests.quant.networks import LAYERS, dense_float, dense_int8, find, samples, shift, stretch, weights

MATRICES, GIVEN = weights(), samples(8)


def compared(plant: Callable[[Tree], None]) -> Drift:
    return outlive.compare(dense_float(MATRICES), dense_int8(MATRICES, GIVEN, plant), GIVEN)


def flip_weights(name: str) -> Callable[[Tree], None]:
    """A fault: a quarter of a layer's weights with the wrong sign."""

    def plant(tree: Tree) -> None:
        buffer = tree["buffers"][find(tree, name)["buffer"]]
        buffer["data"] = buffer["data"].copy()
        buffer["data"][:4] *= -1

    return plant


FAULTS = {
    "scale of the output doubled": lambda place: stretch(f"layer{place}", 2),
    "scale of the output times 4": lambda place: stretch(f"layer{place}", 4),
    "range of the output clipped": lambda place: stretch(f"layer{place}", 0.4),
    "zero point of the output moved": lambda place: shift(f"layer{place}", 90),
    "scale of the weights times 4": lambda place: stretch(f"w{place}", 4),
    "scale of the weights a little off": lambda place: stretch(f"w{place}", 1.1),
    "wrong weights": lambda place: flip_weights(f"w{place}"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("place", [0, LAYERS // 2, LAYERS - 1])
def test_the_planted_layer_is_blamed_first(fault: str, place: int) -> None:
    drift = compared(FAULTS[fault](place))
    assert drift.worst()[0].name == f"layer{place}"


def test_layers_behind_a_fault_have_its_error_but_are_not_blamed_for_it() -> None:
    healthy, faulty = compared(lambda tree: None), compared(flip_weights("w1"))
    rows = {row.name: row for row in faulty.tensors}
    for before, behind in zip(healthy.tensors, faulty.tensors, strict=True):
        assert before.metrics is not None
        assert behind.metrics is not None
        if behind.name in ("layer1", "layer2", "layer3", "y"):
            assert behind.metrics.sqnr_db < before.metrics.sqnr_db - 10
        else:
            assert behind.metrics == before.metrics
    assert rows["layer1"].blame > 10
    assert rows["layer2"].blame < rows["layer1"].blame / 4
    assert rows["layer3"].blame < rows["layer1"].blame / 4
    assert [finding.op.index for finding in faulty.findings if finding.code == "Q220" and finding.op] == [2]


def test_a_healthy_network_has_no_finding_on_its_layers() -> None:
    drift = compared(lambda tree: None)
    assert [finding.code for finding in drift.findings if finding.code in ("Q220", "Q221", "Q222")] == []
    assert all(row.blame < 1 for row in drift.tensors)


def test_other_names_are_paired_by_structure() -> None:
    reference = dense_float(MATRICES)
    renamed = dense_int8(MATRICES, GIVEN, names="tensor_")
    drift, same = outlive.compare(reference, renamed, GIVEN), compared(lambda tree: None)
    assert drift.unpaired == ()
    layers = [row for row in drift.tensors if row.op_type == "FULLY_CONNECTED"]
    assert {row.paired_by for row in layers} == {"structure"}
    assert [row.metrics for row in drift.tensors] == [row.metrics for row in same.tensors]
    assert [row.born_here for row in drift.tensors] == [row.born_here for row in same.tensors]


def test_what_has_no_partner_is_listed() -> None:
    shorter = dense_float(MATRICES[:2])
    drift = outlive.compare(dense_float(MATRICES), shorter, GIVEN)
    assert [(row.model, row.name) for row in drift.unpaired] == [
        ("reference", "layer2"),
        ("reference", "layer3"),
    ]


def test_a_model_against_itself_has_no_error() -> None:
    drift = outlive.compare(dense_float(MATRICES), dense_float(MATRICES), GIVEN)
    assert [row.name for row in drift.tensors] == [f"layer{place}" for place in range(LAYERS)]
    for row in drift.tensors:
        assert row.metrics is not None
        assert row.born_here is not None
        assert row.metrics.max_abs_error == 0
        assert row.born_here.max_abs_error < 1e-5
    assert drift.outputs[0].argmax_agreement == 1


def test_users_metrics_see_real_numbers_of_both_outputs() -> None:
    drift = outlive.compare(
        dense_float(MATRICES),
        dense_int8(MATRICES, GIVEN),
        GIVEN,
        metrics={"worst": lambda wanted, found: float(np.abs(wanted - found).max())},
    )
    [output] = drift.outputs
    assert output.metrics is not None
    assert 0 < output.user_metrics["worst"] <= output.metrics.max_abs_error


@pytest.mark.parametrize("words", [["2:4"], ["layer1", "layer2"], ["layer[12]"], [2, 3]])
def test_sections_of_a_model_can_be_looked_at_alone(words: list[str | int]) -> None:
    drift = outlive.compare(dense_float(MATRICES), dense_int8(MATRICES, GIVEN), GIVEN, layers=words)
    whole = {row.name: row for row in compared(lambda tree: None).tensors}
    assert [row.name for row in drift.tensors] == ["layer1", "layer2"]
    assert [row.metrics for row in drift.tensors] == [whole[row.name].metrics for row in drift.tensors]
    assert [row.born_here for row in drift.tensors] == [whole[row.name].born_here for row in drift.tensors]


def test_a_section_that_is_not_there_is_refused_with_near_names() -> None:
    with pytest.raises(ValueError, match=r"no operator is called 'layre1'; did you mean .*layer1"):
        outlive.compare(dense_float(MATRICES), dense_int8(MATRICES, GIVEN), GIVEN, layers=["layre1"])


def spoiling(isolate_ops: Any, op: int, kept: int) -> Any:
    """`isolate_ops`, with one isolated operator without weights; `kept` of its inputs are listed."""

    def spoiled(graph: Any, lone: Any, values: Any) -> Any:
        layout = isolate_ops(graph, lone, values)
        for step in layout.tree["subgraphs"][0]["operators"]:
            if tuple(step["outputs"]) == layout.outputs.get(op):
                step["inputs"] = [step["inputs"][0], -1, -1][:kept]
        return layout

    return spoiled


# Too few inputs are always refused. Inputs that are there but are no tensor (-1) are read by the kernels
# of some processors without a look: there the worker dies of it.
@pytest.mark.parametrize(
    ("kept", "told"), [(1, "Wrong number of tensors: 1 inputs"), (3, "Required tensor missing|SIGSEGV")]
)
def test_an_operator_that_fails_alone_spoils_no_other(
    monkeypatch: pytest.MonkeyPatch, kept: int, told: str
) -> None:
    whole = compared(lambda tree: None)
    monkeypatch.setattr(capture, "isolate_ops", spoiling(capture.isolate_ops, 2, kept))
    parted = compared(lambda tree: None)
    for before, now in zip(whole.tensors, parted.tensors, strict=True):
        if now.name == "layer2":
            assert now.born_here is None
            assert re.search(told, now.alone)
        else:
            assert now.born_here == before.born_here
            assert now.alone == ""
