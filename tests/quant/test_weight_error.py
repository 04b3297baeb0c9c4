"""Rules on weights, biases and ranges, on real comparisons; what they predict comes true."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import outlive
from outlive.finding import Finding
from outlive.quant import Drift
from outlive.quant.recipes import RECIPES
from tests.quant.networks import dense_float, dense_int8, ending_with, samples, weights, with_bias

SIZE = 64
GIVEN = samples(12, SIZE)
SOFTMAX = {"builtin_options_type": "SoftmaxOptions", "builtin_options": {"beta": 1.0}}


def finding(drift: Drift, code: str) -> Finding:
    [found] = [one for one in drift.findings if one.code == code]
    return found


def row(drift: Drift, name: str) -> Any:
    return next(one for one in drift.tensors if one.name == name)


def decibels(wanted: Any, found: Any) -> float:
    error = np.square(found.astype(np.float64) - wanted).sum()
    return float(10 * np.log10(np.square(wanted.astype(np.float64)).sum() / error))


def by_steps(matrix: Any, steps: Any) -> Any:
    return np.clip(np.round(matrix / steps), -127, 127) * steps


@pytest.fixture(scope="module")
def unequal() -> Any:
    """A network in whose second layer four channels are two hundred times smaller than the others."""
    matrices = weights(3, SIZE)
    matrices[1] = matrices[1].copy()
    matrices[1][:4] /= 200
    return matrices


def test_small_channels_under_one_scale_are_seen_and_their_loss_is_right(unequal: Any) -> None:
    drift = outlive.compare(dense_float(unequal), dense_int8(unequal, GIVEN), GIVEN)
    told = finding(drift, "Q226")
    assert told.op is not None
    assert told.op.index == 2
    found, matrix = row(drift, "layer1").weights, unequal[1][:4].astype(np.float64)
    assert (found.scales, found.channels, found.weak_channels) == (1, SIZE, 4)
    shared = np.float64(np.float32(np.abs(unequal[1]).max() / 127))
    assert found.sqnr_db == pytest.approx(decibels(matrix, by_steps(matrix, shared)), abs=0.01)
    assert row(drift, "layer0").weights.weak_channels == 0


def test_a_scale_for_each_channel_gains_what_was_predicted(unequal: Any) -> None:
    drift = outlive.compare(dense_float(unequal), dense_int8(unequal, GIVEN), GIVEN)
    made = outlive.read(outlive.quantize(dense_float(unequal), "static-int8", GIVEN).model)
    stored = next(one for one in made.subgraphs[0].tensors if one.name == "w1")
    assert stored.quantization is not None
    steps = np.array(stored.quantization.scales)[:4, np.newaxis]
    really = decibels(unequal[1][:4].astype(np.float64), stored.array()[:4].astype(np.float64) * steps)
    assert row(drift, "layer1").weights.per_channel_sqnr_db == pytest.approx(really, abs=0.1)
    better = outlive.compare(dense_float(unequal), made, GIVEN)
    assert [one.code for one in better.findings if one.code == "Q226"] == []


def test_a_bias_that_the_quantizer_cut_off_is_seen() -> None:
    matrices = weights(3, SIZE)
    matrices[1] = matrices[1].copy()
    matrices[1][5] *= 1e-9
    bias = np.zeros(SIZE)
    bias[5] = 3.0
    whole = with_bias(dense_float(matrices), 1, bias)
    made = outlive.quantize(whole, "static-int8", GIVEN)
    drift = outlive.compare(whole, made.model, GIVEN)
    told = finding(drift, "Q227")
    assert told.severity.value == "error"
    assert told.op is not None
    found = row(drift, "layer1").weights
    assert found.bias_steps > found.bias_room
    # It is true: the channel is off by a constant.
    assert row(drift, "layer1").born_here.max_abs_error > 1
    sound = outlive.compare(whole, outlive.quantize(whole, "dynamic-int8").model, GIVEN)
    assert [one.code for one in sound.findings if one.code == "Q227"] == []


def test_values_of_one_sign_in_a_symmetric_range_lose_what_was_predicted() -> None:
    positive = [np.abs(matrix) / 8 for matrix in weights(3, SIZE)]
    given = [np.abs(value) for value in GIVEN]
    [recipe] = RECIPES["static-int8"]
    config = recipe["op_config"]
    activations = {**config["activation_tensor_config"], "symmetric": True}
    symmetric = [{**recipe, "op_config": {**config, "activation_tensor_config": activations}}]
    whole = dense_float(positive)
    worse = outlive.compare(whole, outlive.quantize(whole, symmetric, given).model, given)
    better = outlive.compare(whole, outlive.quantize(whole, "static-int8", given).model, given)
    told = finding(worse, "Q228")
    assert "steps 2.0 times finer" in told.remedies[0].effect
    assert [one.code for one in better.findings if one.code == "Q228"] == []
    assert row(worse, "layer1").scale == pytest.approx(2 * row(better, "layer1").scale, rel=0.02)


def test_a_softmax_without_a_winner_is_seen_and_float_mends_it() -> None:
    whole = ending_with(dense_float(weights(2, SIZE)), "SOFTMAX", **SOFTMAX)
    drift = outlive.compare(whole, outlive.quantize(whole, "static-int8", GIVEN).model, GIVEN)
    told = finding(drift, "Q229")
    assert told.op is not None
    assert told.op.type == "SOFTMAX"
    made = outlive.quantize(whole, "static-int8", GIVEN, skip=["SOFTMAX"])
    mended = outlive.compare(whole, made.model, GIVEN)
    assert [one.code for one in mended.findings if one.code == "Q229"] == []
    assert mended.outputs[0].metrics.sqnr_db > drift.outputs[0].metrics.sqnr_db + 10  # type: ignore[union-attr]


def test_samples_that_leave_most_of_the_input_unused_are_seen() -> None:
    whole = dense_float(weights(2, SIZE))
    made = outlive.quantize(whole, "static-int8", [20 * value for value in GIVEN])
    drift = outlive.compare(whole, made.model, GIVEN)
    told = finding(drift, "Q230")
    assert "steps 20.0 times finer" in told.remedies[1].effect
    assert not any(one.code == "Q222" and "QUANTIZE" in one.where for one in drift.findings)
