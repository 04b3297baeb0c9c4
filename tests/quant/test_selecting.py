"""A target is met by keeping the layers that hurt most in float, and as few of them as that takes."""

from __future__ import annotations

from typing import Any

import pytest

import outlive
from outlive.quant.selecting import check_target
from tests.quant.networks import dense_float, samples, weights

SIZE = 64
MATRICES = weights(4, SIZE)
GIVEN = samples(6, SIZE)
# One weight so large that the steps of all others become coarse.
MATRICES[2] = MATRICES[2].copy()
MATRICES[2][:, 0] *= 60
FLOAT = dense_float(MATRICES)


@pytest.fixture(scope="module")
def whole() -> Any:
    """All layers quantized."""
    made = outlive.quantize(FLOAT, "static-int8", GIVEN)
    drift = outlive.compare(FLOAT, made.model, GIVEN)
    assert drift.outputs[0].metrics is not None
    return made, drift.outputs[0].metrics.sqnr_db


def test_a_target_is_met_with_some_layers_in_float(whole: Any) -> None:
    made, decibels = whole
    mixed = outlive.quantize(FLOAT, "static-int8", GIVEN, until={"sqnr": decibels + 3})
    assert mixed.steps[0].kept == ()
    assert mixed.steps[0].sqnr_db == pytest.approx(decibels, abs=0.01)
    assert [step.met for step in mixed.steps] == [False] * (len(mixed.steps) - 1) + [True]
    kept = {layer.name for layer in mixed.layers if layer.how == "float"}
    assert kept == set(mixed.steps[-1].kept)
    assert 0 < len(kept) < 4
    assert made.file_bytes < mixed.file_bytes
    drift = outlive.compare(FLOAT, mixed.model, GIVEN)
    assert drift.outputs[0].metrics is not None
    assert drift.outputs[0].metrics.sqnr_db >= decibels + 3
    assert mixed.findings == ()


def test_a_target_that_is_met_at_once_changes_nothing(whole: Any) -> None:
    made, decibels = whole
    same = outlive.quantize(FLOAT, "static-int8", GIVEN, until={"sqnr": decibels - 3})
    assert len(same.steps) == 1
    assert same.model == made.model


def test_a_target_out_of_reach_gives_the_best_try_and_says_so() -> None:
    best = outlive.quantize(FLOAT, "static-int8", GIVEN, until=lambda drift: False)
    assert not any(step.met for step in best.steps)
    assert [finding.code for finding in best.findings if finding.code == "Q218"] == ["Q218"]


@pytest.mark.parametrize("target", [{}, {"psnr": 3}, 30])
def test_what_is_no_target_is_refused(target: Any) -> None:
    with pytest.raises(ValueError, match="until="):
        check_target(target)


def test_a_target_needs_samples() -> None:
    with pytest.raises(ValueError, match="samples"):
        outlive.quantize(FLOAT, "dynamic-int8", until={"sqnr": 30})
