"""Trains a small network on scikit-learn's digits and writes it as tests/quant/recorded/digits.tflite.

    python tools/train_digits.py

Needs TensorFlow and scikit-learn, whose package holds the pictures. The model is kept in the repository, so
that tests of accuracy need neither training nor the converter. Half of the pictures are never trained with:
tests/quant/digits.py has the same division.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "tests" / "quant" / "recorded" / "digits.tflite"
EPOCHS, SEED = 60, 7


def pictures() -> tuple[Any, Any, Any, Any]:
    """Pictures (8x8, 0 to 1) and what they show: to train with, and to test with."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    images = (digits.images[..., np.newaxis] / 16).astype(np.float32)
    return images[::2], digits.target[::2], images[1::2], digits.target[1::2]


def network(keras: Any) -> Any:
    """Convolutions, a depthwise one, pooling, a dense layer and a softmax."""
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((8, 8, 1), name="image"),
            layers.Conv2D(16, 3, padding="same", activation="relu", name="first"),
            layers.Conv2D(24, 3, padding="same", activation="relu", name="second"),
            layers.MaxPooling2D(name="pool"),
            layers.DepthwiseConv2D(3, padding="same", activation="relu", name="depthwise"),
            layers.Conv2D(32, 1, activation="relu", name="pointwise"),
            layers.Flatten(name="flat"),
            layers.Dense(10, name="dense"),
            layers.Softmax(name="scores"),
        ]
    )


def main() -> int:
    """Train, convert, write, and say how good it is."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    tf.keras.utils.set_random_seed(SEED)
    images, labels, unseen, answers = pictures()
    model = network(tf.keras)
    model.compile(tf.keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(images, labels, batch_size=32, epochs=EPOCHS, verbose=0)
    _, accuracy = model.evaluate(unseen, answers, verbose=0)
    content = tf.lite.TFLiteConverter.from_keras_model(model).convert()
    TARGET.write_bytes(content)
    print(f"{TARGET.relative_to(ROOT)}: {len(content):,} bytes, {accuracy:.1%} of pictures it never saw")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
