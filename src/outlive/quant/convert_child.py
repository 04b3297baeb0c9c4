"""What runs in the worker: TensorFlow's converter, which the caller's process never imports.

Settings are those of tf.lite.TFLiteConverter and of its target_spec, by name; their values may be words, so
that the caller needs no TensorFlow: optimizations=["DEFAULT"], supported_ops=["TFLITE_BUILTINS_INT8"],
inference_input_type="int8".
"""

from __future__ import annotations

import os
import runpy
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

_TYPES = ("inference_input_type", "inference_output_type", "inference_type")


def convert_source(
    kind: str,
    what: Any,
    specs: list[Any] | None,
    settings: dict[str, Any],
    samples: Iterator[Any] | None,
    shapes: tuple[str, dict[str, list[int]]] | None = None,
) -> bytes:
    """The bytes of the converted model; `shapes` are other ones for the inputs of a signature, by name."""
    with warnings.catch_warnings():
        # Of its own parts, mostly: that its interpreter will go, and statistics that nobody can give it.
        warnings.simplefilter("ignore")
        import tensorflow as tf

        if shapes is not None:
            from outlive.quant.reshape_child import reshaped_converter

            converter = reshaped_converter(tf, kind, what, *shapes)
        else:
            converter = _converter(tf, kind, what, specs)
        for name, value in settings.items():
            _set(tf, converter, name, value)
        if samples is not None:
            converter.representative_dataset = _once(samples)
            if not converter.optimizations:
                converter.optimizations = [tf.lite.Optimize.DEFAULT]
        return bytes(converter.convert())


def _once(samples: Iterator[Any]) -> Callable[[], Iterator[Any]]:
    """A dataset for one calibration, which is all that a conversion needs."""
    given = [samples]

    def dataset() -> Iterator[Any]:
        if not given:
            raise RuntimeError("the converter asked for its samples twice, and they came only once")
        return given.pop()

    return dataset


def _converter(tf: Any, kind: str, what: Any, specs: list[Any] | None) -> Any:
    make = tf.lite.TFLiteConverter
    if kind == "saved-model":
        return make.from_saved_model(what)
    if kind == "keras":
        return make.from_keras_model(tf.keras.models.load_model(what, compile=False))
    if kind == "script":
        what = _function(*what)
    if specs is not None:
        signature = [tf.TensorSpec(shape, dtype) for shape, dtype in specs]
        function = what if hasattr(what, "get_concrete_function") else tf.function(what)
        return make.from_concrete_functions([function.get_concrete_function(*signature)], function)
    if hasattr(what, "get_concrete_function"):
        return make.from_concrete_functions([what.get_concrete_function()], what)
    return _of_made(tf, what())


def _function(path: str, name: str) -> Any:
    """A function of a script, which finds what lies beside it."""
    sys.path.insert(0, os.path.dirname(path))
    found = runpy.run_path(path).get(name)
    if not callable(found):
        raise TypeError(f"{path} has no function {name}")
    return found


def _of_made(tf: Any, made: Any) -> Any:
    """A converter for what a function without arguments made."""
    make = tf.lite.TFLiteConverter
    if hasattr(made, "convert") and hasattr(made, "optimizations"):
        return made
    if hasattr(made, "layers"):
        return make.from_keras_model(made)
    if hasattr(made, "get_concrete_function"):
        return make.from_concrete_functions([made.get_concrete_function()], made)
    if hasattr(made, "structured_input_signature"):
        return make.from_concrete_functions([made])
    raise TypeError(
        f"the function gave a {type(made).__name__}; a Keras model, a tf.function, a concrete function or a "
        "converter is wanted (or signature=[(shape, dtype), ...], to convert the function itself)"
    )


def _set(tf: Any, converter: Any, name: str, value: Any) -> None:
    if hasattr(converter.target_spec, name):
        setattr(converter.target_spec, name, _value(tf, name, value))
    elif hasattr(converter, name) and not callable(getattr(converter, name)):
        setattr(converter, name, _value(tf, name, value))
    else:
        known = sorted(
            setting
            for place in (converter, converter.target_spec)
            for setting in vars(place)
            if not setting.startswith("_")
        )
        raise TypeError(f"the converter has no setting {name!r}; it has {', '.join(known)}")


def _value(tf: Any, name: str, value: Any) -> Any:
    """A word as what it stands for."""
    if name == "optimizations":
        return [getattr(tf.lite.Optimize, one.upper()) if isinstance(one, str) else one for one in value]
    if name == "supported_ops":
        return [getattr(tf.lite.OpsSet, one.upper()) if isinstance(one, str) else one for one in value]
    if name == "supported_types":
        return [tf.as_dtype(one) for one in value]
    return tf.as_dtype(value) if name in _TYPES and isinstance(value, str) else value
