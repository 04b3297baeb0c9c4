"""What quantization costs a network that was trained: the share of right answers, recipe by recipe."""

from __future__ import annotations

import re
from typing import Any

import pytest

import outlive
from tests.quant.digits import DIGITS, accuracy, pictures, uneven

pytest.importorskip("sklearn", reason="the pictures are in scikit-learn: pip install scikit-learn")
# What a recipe may cost, in shares of right answers; a coin that was calibrated wrongly loses far more.
COSTS = {
    "dynamic-int8": 0.005,
    "weight-only-int8": 0.005,
    "weight-only-int4": 0.03,
    "fp16": 0.002,
    "static-int8": 0.01,
    "static-int16x8": 0.005,
}
UNEVEN = uneven(400.0)


@pytest.fixture(scope="module")
def digits() -> Any:
    """Pictures to calibrate with and to test with, the answers, and how good the float model is."""
    calibration, images, answers = pictures()
    return calibration, images, answers, accuracy(DIGITS, images, answers)


def test_the_float_network_knows_digits_it_never_saw(digits: Any) -> None:
    *_, right = digits
    assert right > 0.97


@pytest.mark.parametrize("recipe", COSTS)
def test_a_recipe_costs_little_accuracy(recipe: str, digits: Any) -> None:
    calibration, images, answers, right = digits
    made = outlive.quantize(DIGITS, recipe, calibration)
    assert len(made.quantized_layers) >= 4
    assert made.file_bytes < 0.6 * len(DIGITS)
    assert accuracy(made.model, images, answers) >= right - COSTS[recipe]


def test_wrong_calibration_costs_accuracy_and_is_told(digits: Any) -> None:
    calibration, images, answers, right = digits
    made = outlive.quantize(DIGITS, "static-int8", calibration / 16)
    assert accuracy(made.model, images, answers) < right - 0.05
    drift = outlive.compare(DIGITS, made.model, images[:20])
    assert {"Q221", "Q223"} <= {finding.code for finding in drift.findings}


def test_agreement_is_that_of_the_answers(digits: Any) -> None:
    calibration, images, answers, _ = digits
    made = outlive.quantize(DIGITS, "weight-only-int4", calibration)
    some, labels = images[:60], answers[:60]
    drift = outlive.compare(
        DIGITS,
        made.model,
        some,
        layers=["SOFTMAX"],
        metrics={"right": lambda wanted, found, number: found.argmax() == labels[number]},
    )
    [output] = drift.outputs
    assert output.user_metrics["right"] == pytest.approx(accuracy(made.model, some, labels))
    assert output.argmax_agreement is not None
    assert output.argmax_agreement >= 0.9


@pytest.fixture(scope="module")
def spoiled(digits: Any) -> Any:
    """A model of the same function that 8 bits ruin, and what it is then."""
    calibration, images, answers, right = digits
    assert accuracy(UNEVEN, images, answers) == pytest.approx(right, abs=0.002)
    made = outlive.quantize(UNEVEN, "static-int8", calibration[:30])
    return made, accuracy(made.model, images, answers)


def test_channels_of_unequal_size_ruin_8_bits_and_are_blamed(spoiled: Any, digits: Any) -> None:
    _, images, _, right = digits
    made, left = spoiled
    assert left < right - 0.05
    drift = outlive.compare(UNEVEN, made.model, images[:20])
    # The range of the first layer is one channel's: in the second all others arrive as noise.
    [told] = [finding for finding in drift.findings if finding.code == "Q231"]
    first = next(row for row in drift.tensors if row.op_type == "CONV_2D")
    assert told.op is not None
    assert told.op.index == first.op
    assert max(drift.tensors, key=lambda row: row.harm) is first
    # The command can be pasted, however long the names are, and does what it promises.
    skip = re.findall(r"--skip (\S+)", told.remedies[0].command)
    assert skip == ["0", "1"]
    mended = outlive.quantize(UNEVEN, "static-int8", images[:20], skip=skip)
    better = outlive.compare(UNEVEN, mended.model, images[:20])
    assert "Q231" not in {finding.code for finding in better.findings}


@pytest.mark.parametrize("by", ["agreement", "right"])
def test_a_target_is_reached_by_keeping_layers_float(by: str, spoiled: Any, digits: Any) -> None:
    _, images, answers, right = digits
    made, _ = spoiled
    some, labels = images[:40], answers[:40]
    target = {by: 1.0 if by == "agreement" else accuracy(UNEVEN, some, labels)}

    def is_right(wanted: Any, found: Any, number: int) -> bool:
        return bool(found.argmax() == labels[number])

    mixed = outlive.quantize(UNEVEN, "static-int8", some, until=target, metrics={"right": is_right})
    assert [step.met for step in mixed.steps] == [False] * (len(mixed.steps) - 1) + [True]
    assert 1 < len(mixed.steps) <= 3
    assert {layer.how for layer in mixed.layers} >= {"float", "int8"}
    assert made.file_bytes < mixed.file_bytes < 0.7 * len(UNEVEN)
    assert accuracy(mixed.model, images, answers) >= right - 0.01
    assert mixed.steps[-1].user_metrics["right"] > mixed.steps[0].user_metrics["right"]
