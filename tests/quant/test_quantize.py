"""Quantizing: every recipe does what it says, says what it did, and leaves the caller alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive.surgery import tree_of, write
from tests.model.small import tensor, tree
from tests.quant.networks import dense_float, samples, weights

SIZE = 64  # weights of fewer numbers are not worth quantizing
MATRICES = weights(3, SIZE)
FLOAT = dense_float(MATRICES)
GIVEN = samples(8, SIZE)
NAMES = ["layer0", "layer1", "layer2"]


def how(made: outlive.Quantized) -> list[str]:
    return [layer.how for layer in made.layers]


@pytest.mark.parametrize(
    ("recipe", "became", "share", "least_db"),
    [
        ("dynamic-int8", "int8 weights", 0.4, 30),
        ("weight-only-int8", "int8 weights", 0.4, 35),
        ("weight-only-int4", "int4 weights", 0.3, 10),
        ("fp16", "float16 weights", 0.6, 60),
        ("static-int8", "int8", 0.4, 25),
        ("static-int16x8", "int16", 0.4, 35),
    ],
)
def test_a_recipe_quantizes_every_layer(recipe: str, became: str, share: float, least_db: float) -> None:
    made = outlive.quantize(FLOAT, recipe, GIVEN)
    assert how(made) == [became] * 3
    assert [layer.name for layer in made.layers] == NAMES
    assert made.findings == ()
    assert made.file_bytes < share * len(FLOAT)
    assert [item.dtype for item in (*outlive.read(made.model).inputs, *outlive.read(made.model).outputs)] == [
        "float32", "float32"
    ]  # fmt: skip
    drift = outlive.compare(FLOAT, made.model, GIVEN)
    assert drift.outputs[0].metrics is not None
    assert drift.outputs[0].metrics.sqnr_db > least_db
    assert all(row.born_here is not None for row in drift.tensors)
    assert drift.unpaired == ()


def test_the_caller_never_loads_what_quantizes() -> None:
    outlive.quantize(FLOAT, "dynamic-int8")
    names = {name.partition(".")[0] for name in sys.modules}
    assert names.isdisjoint({"ai_edge_quantizer", "ai_edge_litert", "tensorflow"})
    assert "libLiteRt" not in Path("/proc/self/maps").read_text()


def test_inputs_and_outputs_can_be_integers_too(tmp_path: Path) -> None:
    made = outlive.quantize(FLOAT, "static-int8", GIVEN, io="int8")
    made.save(tmp_path / "m.tflite")
    model = outlive.read(tmp_path / "m.tflite")
    assert [item.dtype for item in (*model.inputs, *model.outputs)] == ["int8", "int8"]
    drift = outlive.compare(FLOAT, model, GIVEN)
    assert drift.outputs[0].metrics is not None
    assert drift.outputs[0].metrics.sqnr_db > 25


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({"skip": ["layer1"]}, ["int8 weights", "float", "int8 weights"]),
        ({"skip": ["layer[02]"]}, ["float", "int8 weights", "float"]),
        ({"only": ["2"]}, ["float", "float", "int8 weights"]),
        ({"only": ["FULLY_CONNECTED"], "skip": ["0"]}, ["float", "int8 weights", "int8 weights"]),
    ],
)
def test_operators_are_left_out_and_chosen(chosen: dict[str, Any], expected: list[str]) -> None:
    made = outlive.quantize(FLOAT, "dynamic-int8", **chosen)
    assert how(made) == expected
    assert {layer.why for layer in made.layers if layer.how == "float"} == {"skipped"}


def test_a_recipe_can_be_a_file(tmp_path: Path) -> None:
    from outlive.quant.recipes import RECIPES

    path = tmp_path / "recipe.json"
    path.write_text(json.dumps([{**RECIPES["weight-only-int8"][0], "regex": "layer2"}]))
    assert how(outlive.quantize(FLOAT, path)) == ["float", "float", "int8 weights"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"recipe": "static-int9"}, "did you mean static-int8"),
        ({"recipe": [{"regex": "("}]}, "row 0 of the recipe"),
        ({"recipe": "nowhere.json"}, "cannot read a recipe"),
        ({"skip": ["layre1"]}, "did you mean"),
        ({"io": "uint9"}, "float or int8"),
    ],
)
def test_mistakes_are_told(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        outlive.quantize(FLOAT, **arguments)


def test_asked_to_quantize_and_got_float_is_an_error() -> None:
    rows = [tensor("x", "FLOAT32", [1, 8]), tensor("y", "FLOAT32", [1, 8])]
    steps = [{"opcode_index": 0, "inputs": [0], "outputs": [1]}]
    made = outlive.quantize(
        write(tree(rows, operators=steps, codes=[{"builtin_code": "COS"}])), "dynamic-int8"
    )
    [finding] = made.findings
    assert (finding.code, finding.severity.value) == ("Q214", "error")
    assert made.layers[0].why == "no weights"


def test_a_static_recipe_without_samples_is_refused() -> None:
    with pytest.raises(outlive.InputError) as caught:
        outlive.quantize(FLOAT, "static-int8")
    assert caught.value.finding.code == "Q210"


def test_samples_of_one_constant_are_told() -> None:
    made = outlive.quantize(FLOAT, "static-int8", [np.zeros((1, SIZE), np.float32)] * 2)
    assert [finding.code for finding in made.findings] == ["Q215"]


def test_samples_are_taken_one_at_a_time() -> None:
    told: list[int] = []

    def some() -> Iterator[Any]:
        for number, value in enumerate(GIVEN):
            assert number - len(told) <= 1, "a sample was asked for before the one before was used"
            yield value

    made = outlive.quantize(FLOAT, "static-int8", some(), tell=told.append)
    assert made.samples == len(GIVEN)
    assert told[-1] == len(GIVEN)


@pytest.mark.parametrize("kind", [ZeroDivisionError, ValueError, KeyError])
def test_what_samples_raise_is_raised(kind: type[Exception]) -> None:
    asked = []

    def some() -> Iterator[Any]:
        asked.append(1)
        yield GIVEN[0]
        raise kind("in the user's own generator")

    with pytest.raises(kind, match="own generator") as caught:
        outlive.quantize(FLOAT, "static-int8", some)
    assert getattr(caught.value, "finding", None) is None
    assert len(asked) == 1, "what fails in the samples is not tried again"


def test_files_from_before_2020_have_their_operators_where_the_quantizer_does_not_look() -> None:
    old = tree_of(memoryview(FLOAT))
    old["operator_codes"] = [{"deprecated_builtin_code": 9, "version": 1}]  # FULLY_CONNECTED
    assert how(outlive.quantize(write(old), "dynamic-int8")) == ["int8 weights"] * 3


def test_float16_weights_are_made_whole_first() -> None:
    half = outlive.quantize(FLOAT, "fp16").model
    made = outlive.quantize(half, "static-int8", GIVEN)
    assert how(made) == ["int8"] * 3
    assert made.file_bytes < len(half)


def test_a_model_that_the_quantizer_refuses_is_told_in_its_words() -> None:
    double = tree_of(memoryview(FLOAT))
    double["subgraphs"][0]["tensors"][2]["name"] = "x"
    with pytest.raises(outlive.ModelError) as caught:
        outlive.quantize(write(double), "dynamic-int8")
    assert caught.value.finding.code == "Q213"
    assert "not unique" in caught.value.finding.evidence[0].fact
