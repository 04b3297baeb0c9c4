"""A target is met by keeping the layers that hurt most in float, and as few of them as that takes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

import outlive
from outlive.quant.drift import Drift, Metrics, OutputDrift, PassSummary
from outlive.quant.quantized import check_target, is_met, sqnr
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


def _held(*found: tuple[float, int]) -> Drift:
    numbers = dict.fromkeys(
        ("stddev", "mean_error", "max_abs_error", "mean_squared_error", "rmse", "cosine", "reference_min"),
        0.0,
    )
    outputs = tuple(
        OutputDrift(
            name="y", index=0, reference_name="y", argmax_agreement=None, user_metrics={"mine": decibels},
            metrics=Metrics(num_elements=1, sqnr_db=decibels, reference_max=1.0, not_finite=odd, **numbers),
        )
        for decibels, odd in found
    )  # fmt: skip
    return Drift(
        tensors=(), outputs=outputs, samples=1, turns=PassSummary(count=1, budget_bytes=1, largest_bytes=1)
    )


@pytest.mark.parametrize(
    "outputs", [[(30.0, 0), (math.nan, 9)], [(math.nan, 9), (30.0, 0)], [(30.0, 1)], [(math.nan, 0)]]
)
def test_no_target_is_met_by_values_that_are_not_finite(outputs: list[tuple[float, int]]) -> None:
    drift = _held(*outputs)
    assert sqnr(drift) == -math.inf
    assert not is_met({"sqnr": 20.0}, drift)
    if len(outputs) > 1:
        assert not is_met({"mine": 20.0}, drift)
    assert is_met({"sqnr": 20.0, "mine": 20.0}, _held((30.0, 0), (25.0, 0)))


def test_an_output_that_could_not_be_compared_meets_no_target() -> None:
    left = OutputDrift(
        name="z", index=1, reference_name="", metrics=None, argmax_agreement=None, why="other shapes"
    )
    drift = _held((30.0, 0))
    assert not is_met({"sqnr": 20.0}, replace(drift, outputs=(*drift.outputs, left)))
