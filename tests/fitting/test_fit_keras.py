"""A Keras model is converted first, in a worker, and then made to fit like any other."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

import outlive

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None,
    reason="needs TensorFlow: pip install 'outlive[tensorflow]'",
)


def save_model(path: str) -> None:
    """Run in a worker: a small classifier with a batch that is left open."""
    import warnings

    import tensorflow as tf

    warnings.simplefilter("ignore")  # Keras has some about numpy
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Input((16, 16, 3)),
            layers.Conv2D(8, 3, strides=2, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(4, activation="softmax"),
        ]
    )
    model.save(path)


def test_a_keras_model_is_converted_first(tmp_path: Path) -> None:
    path = str(tmp_path / "model.keras")
    outlive.guard(save_model)(path)
    fit = outlive.fit(path, ram="1GB", batch=8, accelerator="builtin")
    assert fit.chosen is not None
    assert [shape for _, shape in fit.chosen.inputs] == [(8, 16, 16, 3)]
    assert outlive.read(fit.model).outputs[0].shape == (8, 4)
    assert "tensorflow" not in sys.modules
