"""Networks that a converter or a quantizer has to make: recurrent, 3-D, sparse, of open shape, of 4 bits.

    Keras network ──> TensorFlow's converter (float, half, dynamic, sparse) ──> ai-edge-quantizer (4 bits)

All weights are random with a fixed seed, and scaled to a size in megabytes of float32. Used by
`tools/build_large_models.py`, which says what a package that is missing leaves out.
"""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

SEED = 7
_FLOAT_BYTES = 4
# Of weights in blocks of 1x4, the share that is not zero: what a pruned network has left.
_DENSITY = 0.1
_RECIPES = {
    "int4": "dynamic_wi4c_afp32",
    "block32": "dynamic_wi4b32_afp32",
    "weights4": "weight_only_wi4_afp32",
}


class PackageMissing(RuntimeError):
    """A model cannot be made here: the words name the package, and how it is installed."""


def find_package(name: str, extra: str) -> Any:
    """A package that is only needed to make some of the models."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise PackageMissing(
            f"{name} is not installed, so models of this kind are neither made nor measured "
            f"(pip install 'outlive[{extra}]')"
        ) from error


def make(network: Callable[[Any, int], Any], megabytes: int, precision: str) -> bytes:
    """The bytes of a network of this size in a precision."""
    tensorflow = find_package("tensorflow", "tensorflow")
    if precision in _RECIPES:
        find_package("ai_edge_quantizer", "quantize")
    tensorflow.keras.backend.clear_session()  # layers are numbered through, and their names are in the file
    tensorflow.keras.utils.set_random_seed(SEED)
    keras_model = network(tensorflow.keras, megabytes * 1_000_000 // _FLOAT_BYTES)
    if precision == "sparse":
        _prune(keras_model)
    data = _convert(tensorflow, keras_model, precision)
    return quantize(data, precision) if precision in _RECIPES else data


def quantize(data: bytes, precision: str) -> bytes:
    """A float model with weights of 4 bits: a scale for each channel, or for each block of 32."""
    package = find_package("ai_edge_quantizer", "quantize")
    recipes = importlib.import_module("ai_edge_quantizer.recipe")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "float.tflite"
        path.write_bytes(data)
        quantizer = package.quantizer.Quantizer(str(path), getattr(recipes, _RECIPES[precision])())
        return bytes(quantizer.quantize().quantized_model)


def _convert(tensorflow: Any, keras_model: Any, precision: str) -> bytes:
    converter = tensorflow.lite.TFLiteConverter.from_keras_model(keras_model)
    optimize = tensorflow.lite.Optimize
    if precision in ("half", "dynamic"):
        converter.optimizations = [optimize.DEFAULT]
    if precision == "half":
        converter.target_spec.supported_types = [tensorflow.float16]
    if precision == "sparse":
        converter.optimizations = [optimize.EXPERIMENTAL_SPARSITY]
    return bytes(converter.convert())


def _prune(keras_model: Any) -> None:
    """Zero most blocks of 1x4, which is what the converter stores as sparse."""
    numpy = importlib.import_module("numpy")
    random = numpy.random.default_rng(SEED)
    for layer in keras_model.layers:
        weights = layer.get_weights()
        if weights and weights[0].ndim == 2 and weights[0].shape[1] % 4 == 0:
            rows, columns = weights[0].shape
            kept = numpy.repeat(random.random((rows, columns // 4)) < _DENSITY, 4, axis=1)
            layer.set_weights([weights[0] * kept, *weights[1:]])


def _side(weights: float) -> int:
    """The side of a square matrix with so many weights, a multiple of 32."""
    return max(32, int(weights**0.5) // 32 * 32)


def dense(keras: Any, weights: int) -> Any:
    """Four square layers on 16 rows."""
    side = _side(weights / 4)
    layers = [keras.layers.Dense(side, activation="relu") for _ in range(4)]
    return keras.Sequential([keras.Input((side,), batch_size=16), *layers])


def lstm(keras: Any, weights: int) -> Any:
    """Two LSTM layers over 32 steps, which Keras 3 writes as loops."""
    return _recurrent(keras, keras.layers.LSTM, _side(weights / 16))


def gru(keras: Any, weights: int) -> Any:
    """Two GRU layers over 32 steps."""
    return _recurrent(keras, keras.layers.GRU, _side(weights / 12))


def _recurrent(keras: Any, layer: Any, units: int) -> Any:
    first, second = layer(units, return_sequences=True), layer(units)
    return keras.Sequential([keras.Input((32, units), batch_size=1), first, second, keras.layers.Dense(10)])


def conv3d(keras: Any, weights: int) -> Any:
    """Convolutions over time as well, on a clip of 8 frames."""
    channels = max(8, int((weights / (27 * 14)) ** 0.5) // 8 * 8)
    layers = [
        keras.layers.Conv3D(factor * channels, 3, strides=stride, padding="same", activation="relu")
        for factor, stride in ((1, 1), (2, 2), (2, 1), (4, 2))
    ]
    head = (keras.layers.GlobalAveragePooling3D(), keras.layers.Dense(10))
    return keras.Sequential([keras.Input((8, 32, 32, 3), batch_size=1), *layers, *head])


def open_transformer(keras: Any, weights: int) -> Any:
    """Blocks of attention over a sequence whose length the file leaves open."""
    width = _side(weights / 36)
    words = keras.Input((None,), dtype="int32", batch_size=1)
    x = keras.layers.Embedding(12 * width // 4, width)(words)
    for _ in range(3):
        found = keras.layers.MultiHeadAttention(4, width // 4)(x, x)
        x = keras.layers.LayerNormalization()(x + found)
        hidden = keras.layers.Dense(4 * width, activation="gelu")(x)
        x = keras.layers.LayerNormalization()(x + keras.layers.Dense(width)(hidden))
    return keras.Model(words, keras.layers.Dense(10)(x))


NETWORKS: dict[str, tuple[Callable[[Any, int], Any], tuple[str, ...]]] = {
    "dense": (dense, ("float", "half", "dynamic", "sparse", "int4", "block32", "weights4")),
    "lstm": (lstm, ("float", "half", "dynamic", "int4")),
    "gru": (gru, ("float", "half", "dynamic")),
    "conv3d": (conv3d, ("float", "half")),
    "open": (open_transformer, ("float", "half", "dynamic", "int4", "block32")),
}
