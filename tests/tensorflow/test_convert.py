"""Conversion outside of the caller."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive

# TensorFlow warns of its own parts, and a worker has the filters of its caller.
pytestmark = pytest.mark.filterwarnings("default")

WIDE = np.random.default_rng(0).random((6, 64), dtype=np.float32)


def build() -> Any:
    import tensorflow as tf

    layers = tf.keras.layers
    return tf.keras.Sequential([tf.keras.Input((64,)), layers.Dense(128, activation="relu"), layers.Dense(8)])


def save_as(path: str) -> None:
    model = build()
    if path.endswith(".keras"):
        model.save(path)
    else:
        model.export(path)


def kinds(model: bytes) -> set[str]:
    return {str(tensor.dtype) for tensor in outlive.read(model).subgraphs[0].tensors}


def test_a_function_that_makes_a_model(tmp_path: Path) -> None:
    made = outlive.convert(build)
    made.save(tmp_path / "m.tflite")
    assert outlive.read(tmp_path / "m.tflite").inputs[0].shape == (1, 64)
    assert "int8" not in kinds(made.model)
    assert made.findings == ()


def test_a_function_of_tensors() -> None:
    made = outlive.convert(lambda x: x * 2, signature=[((1, 4), "float32")])
    flight = outlive.run(made.model, [np.arange(4, dtype=np.float32)[np.newaxis]])
    assert [list(value.ravel()) for value in flight.values.values()] == [[0, 2, 4, 6]]


@pytest.mark.parametrize("name", ["model.keras", "saved"])
def test_what_was_saved(tmp_path: Path, name: str) -> None:
    outlive.guard(save_as)(str(tmp_path / name))
    assert outlive.read(outlive.convert(tmp_path / name).model).outputs[0].shape == (1, 8)


def test_samples_quantize_it() -> None:
    seen: list[int] = []
    made = outlive.convert(
        build,
        samples=WIDE,
        supported_ops=["TFLITE_BUILTINS_INT8"],
        inference_input_type="int8",
        inference_output_type="int8",
        tell=seen.append,
    )
    assert (made.samples, seen, made.findings) == (6, [1, 2, 3, 4, 5, 6], ())
    assert outlive.read(made.model).inputs[0].dtype == "int8"


def test_asked_to_quantize_and_got_float_is_an_error() -> None:
    made = outlive.convert(build, optimizations=["DEFAULT"], supported_types=["uint8"])
    told = [(finding.code, finding.severity.value, finding.evidence[-1].fact) for finding in made.findings]
    # TensorFlow 2.21 gives a float model without a word; a version that quantizes it is as good.
    asked = "supported_types asks for uint8"
    assert told == ([] if "int8" in kinds(made.model) else [("Q201", "error", asked)])
    assert outlive.convert(build, optimizations=["DEFAULT"]).findings == ()


def test_samples_are_checked_before_anything_is_converted() -> None:
    with pytest.raises(outlive.InputError) as caught:
        outlive.convert(build, samples=np.full((2, 64), np.nan, np.float32))
    assert caught.value.finding.code == "Q211"


def test_an_op_that_has_no_counterpart_is_named() -> None:
    def decompose(x: Any) -> Any:
        import tensorflow as tf

        return tf.linalg.svd(x)[0]

    with pytest.raises(outlive.ModelError) as caught:
        outlive.convert(decompose, signature=[((3, 3), "float32")])
    assert (caught.value.finding.code, caught.value.finding.where) == ("O125", "Svd")


def test_mistakes_are_told() -> None:
    with pytest.raises(TypeError, match=r"has no setting 'optimisations'; it has .*optimizations"):
        outlive.convert(build, optimisations=["DEFAULT"])
    with pytest.raises(FileNotFoundError, match="nothing to convert"):
        outlive.convert("no-such-folder")
    with pytest.raises(TypeError, match="not int"):
        outlive.convert(3)
    with pytest.raises(TypeError, match="the function gave a int"):
        outlive.convert(lambda: 3)
