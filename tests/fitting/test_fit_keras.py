"""A Keras model or a SavedModel is converted first, in a worker, and again for shapes its .tflite refuses."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive.cache import ResultCache
from outlive.fitting import Fit, Outcome
from outlive.fitting.candidate_builder import CONVERTED_AGAIN, Origin
from outlive.verbs.guard import guarded
from outlive.verbs.judging import JUDGE

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None,
    reason="needs TensorFlow: pip install 'outlive[tensorflow]'",
)
_PICTURES = np.random.default_rng(0).random((2, 2, 32, 32, 3), np.float32)
_SMALL = np.random.default_rng(1).random((2, 16, 16, 3), np.float32)
_ROWS = np.random.default_rng(2).random((2, 5), np.float32)


def save_models(folder: str, pictures: Any, small: Any, rows: Any) -> None:
    """Run in a worker: models that are open, stiff as .tflite, and rigid; what they say of small pictures."""
    import warnings

    import tensorflow as tf

    warnings.simplefilter("ignore")  # Keras has some about numpy
    tf.keras.utils.set_random_seed(1)
    layers, model_of = tf.keras.layers, tf.keras.Sequential
    normal, conv = layers.Normalization(), layers.Conv2D(8, 3, strides=2, activation="relu")
    normal.adapt(pictures[0])
    last = layers.Dense(4, activation="softmax")
    # One network twice: with open sizes, and with all sizes in the constant of a Reshape.
    loose = model_of([layers.Input((None, None, 3)), normal, conv, layers.GlobalAveragePooling2D(), last])
    means = [layers.Reshape((-1, 8)), layers.GlobalAveragePooling1D()]
    stiff = model_of([layers.Input(batch_shape=(2, 32, 32, 3)), normal, conv, *means, last])
    loose.save(f"{folder}/loose.keras")
    stiff.save(f"{folder}/stiff.keras")
    np.save(f"{folder}/stiff.npy", loose(small))
    rigid = [conv, layers.Flatten(), layers.Dense(4)]
    model_of([layers.Input(batch_shape=(2, 32, 32, 3)), *rigid]).save(f"{folder}/rigid.h5")
    save_nested(tf, folder, conv, small, rows)
    save_function(tf, f"{folder}/saved", [None, None, None, 3])
    save_function(tf, f"{folder}/saved_rigid", [2, 32, 32, 3])


def save_nested(tf: Any, folder: str, conv: Any, small: Any, rows: Any) -> None:
    """A model inside of a model, two inputs and two outputs, none of them in the order of the alphabet."""
    layers = tf.keras.layers
    inner = [conv, layers.Reshape((-1, 8)), layers.GlobalAveragePooling1D()]
    mixed, first, second = layers.Concatenate(), layers.Dense(3, name="z"), layers.Dense(2, name="a")

    def whole(picture: Any, row: Any, backbone: Any) -> Any:
        both = mixed([backbone(picture), row])
        return tf.keras.Model([picture, row], [first(both), second(both)])

    picture, row = layers.Input((32, 32, 3), 2, name="picture"), layers.Input((5,), 2, name="data")
    model = whole(picture, row, tf.keras.Sequential([layers.Input((32, 32, 3)), *inner]))
    model.save(f"{folder}/nested.keras")
    pooled = tf.reduce_mean(conv(small), (1, 2))
    both = tf.concat([pooled, rows], 1)
    np.savez(f"{folder}/nested.npz", z=first(both), a=second(both))


def save_function(tf: Any, folder: str, shape: list[int | None]) -> None:
    """A SavedModel that takes what the shape leaves open."""
    kernel = tf.constant(np.random.default_rng(1).standard_normal((3, 3, 3, 8)), tf.float32)

    @tf.function(input_signature=[tf.TensorSpec(shape, tf.float32, name="picture")])
    def call(picture: Any) -> Any:
        found = tf.nn.relu(tf.nn.conv2d(picture, kernel, 2, "SAME"))
        sizes = tf.shape(found)
        return {"means": tf.reduce_mean(tf.reshape(found, [sizes[0], sizes[1] * sizes[2], 8]), 1)}

    module = tf.Module()
    module.call = call
    tf.saved_model.save(module, folder, signatures=call.get_concrete_function())


def run(model: bytes, *values: Any) -> list[Any]:
    """The outputs, in the model's order."""
    with outlive.Interpreter(model_content=model) as interpreter:
        interpreter.allocate_tensors()
        for row, value in zip(interpreter.get_input_details(), values, strict=True):
            interpreter.set_tensor(row["index"], value)
        interpreter.invoke()
        return [interpreter.get_tensor(row["index"]) for row in interpreter.get_output_details()]


class Counting:
    """A guard that counts the calls."""

    calls = 0

    def __call__(self, function: Callable[..., Any], *, plain: Any) -> Callable[..., Any]:
        """The guarded function; one more call."""
        self.calls += 1
        return guarded(function, plain=plain)


def origin_of(path: Path) -> Origin:
    return Origin(source=str(path), model=outlive.read(outlive.convert(str(path)).model), judge=JUDGE)


def with_steps(fit: Fit, *steps: str) -> Outcome:
    return next(row for row in fit.candidates if row.candidate.steps == steps)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("keras")
    outlive.guard(save_models)(str(made), _PICTURES, _SMALL, _ROWS)
    return made


def fit_all(path: Path) -> Fit:
    return outlive.fit(str(path), ram="1GB", samples=_PICTURES, accelerator="builtin", all=True, cache=False)


def test_a_keras_model_is_converted_first(folder: Path) -> None:
    start = {"batch": 8, "inputs": {"": (1, 32, 32, 3)}}
    fit = outlive.fit(str(folder / "loose.keras"), ram="1GB", accelerator="builtin", **start)
    assert fit.chosen is not None
    assert [shape for _, shape in fit.chosen.inputs] == [(8, 32, 32, 3)]
    assert CONVERTED_AGAIN not in fit.chosen.notes
    assert "tensorflow" not in sys.modules


def test_shapes_that_the_tflite_refuses_are_converted_again(folder: Path) -> None:
    fit = fit_all(folder / "stiff.keras")
    for steps, shape in (
        (("batch 1",), (1, 32, 32, 3)),
        (("batch 1", "16x16 images"), (1, 16, 16, 3)),
        (("batch 1", "16x16 images", "static-int8"), (1, 16, 16, 3)),
    ):
        row = with_steps(fit, *steps)
        assert row.fits, row
        assert [found for _, found in row.inputs] == [shape]
        assert [found for _, found in row.outputs] == [(1, 4)]
        assert CONVERTED_AGAIN in row.notes
    assert with_steps(fit, "batch 1").loss == 0
    assert "tensorflow" not in sys.modules


def test_a_search_may_start_from_such_a_shape(folder: Path) -> None:
    start = {"inputs": {"": (2, 16, 16, 3)}}
    fit = outlive.fit(str(folder / "stiff.keras"), ram="1GB", accelerator="builtin", **start)
    np.testing.assert_allclose(run(fit.model, _SMALL)[0], np.load(folder / "stiff.npy"), atol=1e-5)


def test_a_model_that_is_rigid_itself_is_refused_with_its_reason(folder: Path) -> None:
    fit = fit_all(folder / "rigid.h5")
    assert with_steps(fit, "batch 1").fits
    row = with_steps(fit, "batch 1", "16x16 images")
    assert row.verdict == "refused"
    assert "the Keras model itself does not take these shapes" in row.reason
    assert "is [1800, 4], and would have to be [392, 4]" in row.reason
    with pytest.raises(ValueError, match=r"Keras model itself .* nor does its \.tflite"):
        outlive.fit(str(folder / "rigid.h5"), ram="1GB", inputs={"": (2, 16, 16, 3)})


def test_models_inside_of_models_and_several_inputs(folder: Path) -> None:
    origin = origin_of(folder / "nested.keras")
    shapes = {"picture": (2, 16, 16, 3), "data": (2, 5)}
    names = [
        tensor.name.removeprefix("serving_default_").removesuffix(":0") for tensor in origin.model.inputs
    ]
    made = origin.convert([shapes[name] for name in names], ResultCache(None), guarded)
    values = {"picture": _SMALL, "data": _ROWS}
    found = {value.shape: value for value in run(made, *(values[name] for name in names))}
    with np.load(folder / "nested.npz") as wanted:
        for name in ("z", "a"):
            np.testing.assert_allclose(found[wanted[name].shape], wanted[name], atol=1e-5)


def test_a_saved_model_is_converted_with_what_its_signature_leaves_open(folder: Path) -> None:
    origin = origin_of(folder / "saved")
    made = origin.convert([(2, 16, 16, 3)], ResultCache(None), guarded)
    model = outlive.read(made)
    assert model.outputs[0].shape == (2, 8)
    assert "SHAPE" not in {step.type for step in model.subgraphs[0].operators}
    opened = outlive.fit(origin.source, ram="1GB", inputs={"": (2, 16, 16, 3)}, accelerator="builtin")
    np.testing.assert_allclose(run(made, _SMALL)[0], run(opened.model, _SMALL)[0], atol=1e-5)


def test_a_saved_model_that_leaves_nothing_open_keeps_its_batch_and_is_made_smaller(folder: Path) -> None:
    fit = fit_all(folder / "saved_rigid")
    row = with_steps(fit, "batch 1")
    assert row.verdict == "refused"
    assert "the SavedModel itself takes 'picture' only as (2, 32, 32, 3)" in row.reason
    assert with_steps(fit, "static-int8").fits


def test_what_was_converted_again_is_kept_and_so_is_a_refusal(folder: Path, tmp_path: Path) -> None:
    cache, guard = ResultCache(tmp_path), Counting()
    origin = origin_of(folder / "stiff.keras")
    first = origin.convert([(1, 32, 32, 3)], cache, guard)
    assert origin_of(folder / "stiff.keras").convert([(1, 32, 32, 3)], cache, guard) == first
    assert guard.calls == 1
    rigid = origin_of(folder / "rigid.h5")
    for _ in range(2):
        with pytest.raises(ValueError, match="the Keras model itself"):
            rigid.convert([(2, 16, 16, 3)], cache, guard)
    assert guard.calls == 2
