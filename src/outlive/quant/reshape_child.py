"""What runs in the worker: a Keras model or a SavedModel with other input shapes, ready to be converted.

.keras, .h5 ─► saved once more ─► the inputs of its description changed ─► loaded: same weights, or ValueError
SavedModel  ─► the signature's function, called with these shapes, if its own leave them open, or ValueError
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import Any

_DESCRIPTION = "config.json"
# What a layer was built for; it is built again, for the new shapes.
_BUILT_FOR = ("build_config", "build_input_shape")
_SHAPE_KEYS = ("batch_shape", "batch_input_shape")
_RIGID = "the Keras model itself does not take these shapes"
_MOST_WORDS = 160
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")  # of Keras's words
Shapes = dict[str, list[int]]


def reshaped_converter(tf: Any, kind: str, what: Any, key: str, shapes: Shapes) -> Any:
    """A converter for the model with these input shapes; ValueError if it does not take them."""
    make = tf.lite.TFLiteConverter
    if kind == "saved-model":
        loaded = tf.saved_model.load(what)
        return make.from_concrete_functions([_function_at(tf, loaded, key, shapes)], loaded)
    return make.from_keras_model(_model_at(tf, what, shapes))


def _function_at(tf: Any, loaded: Any, key: str, shapes: Shapes) -> Any:
    """The function of a signature, for these shapes alone."""
    if key not in loaded.signatures:
        raise ValueError(f"the SavedModel has no signature {key[:80]!r}")
    function = loaded.signatures[key]
    taken = function.structured_input_signature[1]
    if set(taken) != set(shapes):
        raise ValueError("the inputs of the SavedModel have other names than those of the .tflite")
    for name, spec in taken.items():
        if not spec.shape.is_compatible_with(shapes[name]):
            raise ValueError(f"the SavedModel itself takes {name[:80]!r} only as {spec.shape}")
    specs = {name: tf.TensorSpec(shapes[name], spec.dtype, name=name) for name, spec in taken.items()}

    def call(**values: Any) -> Any:
        return function(**values)

    return tf.function(call).get_concrete_function(**specs)


def _model_at(tf: Any, path: str, shapes: Shapes) -> Any:
    """The Keras model with these inputs and the same weights."""
    load = tf.keras.models.load_model
    model = load(path, compile=False)
    with tempfile.TemporaryDirectory(prefix="outlive-reshape-") as folder:
        saved, changed = Path(folder, "saved.keras"), Path(folder, "changed.keras")
        model.save(saved)
        description = _rewrite(saved, changed, shapes)
        try:
            made = load(changed, compile=False)
        except Exception as error:
            _check_sizes(model, _built(tf, description))  # says it better, if that is why
            raise ValueError(f"{_RIGID}: {_reason(error)}") from error
    _check_weights(model, made)
    return made


def _built(tf: Any, description: str) -> Any:
    """The model of a description, with new weights; ValueError if there cannot be one."""
    try:
        return tf.keras.models.model_from_json(description)
    except Exception as error:
        raise ValueError(f"{_RIGID}: {_reason(error)}") from error


def _rewrite(saved: Path, changed: Path, shapes: Shapes) -> str:
    """Write the same archive with other inputs in its description, which is returned."""
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(changed, "w") as new:
        for member in set(old.namelist()) - {_DESCRIPTION}:
            with old.open(member) as source, new.open(member, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target)
        description = json.dumps(_described_at(json.loads(old.read(_DESCRIPTION)), shapes))
        new.writestr(_DESCRIPTION, description)
    return description


def _described_at(description: Any, shapes: Shapes) -> Any:
    """A model's description with other inputs; those of models inside of it follow."""
    rows = description.get("config", {}).get("layers", ())
    inputs = {row["config"]["name"]: row["config"] for row in rows if row.get("class_name") == "InputLayer"}
    named = shapes
    if len(inputs) == 1 and len(shapes) == 1:
        named = dict(zip(inputs, shapes.values(), strict=True))  # a single one needs no name
    if set(inputs) != set(named):
        raise ValueError("the Keras model has no input layers of these names that could be changed")
    sizes: dict[tuple[Any, ...], list[int]] = {}
    for name, row in inputs.items():
        key = _shape_key(row)
        if len(row[key]) != len(named[name]):
            raise ValueError(f"the Keras model takes {name[:80]!r} with {len(row[key])} dimensions")
        if row[key][1:] != named[name][1:]:
            sizes[tuple(row[key][1:])] = named[name][1:]
        row[key] = named[name]
    for row in rows:
        if row.get("class_name") != "InputLayer":
            _relax(row, sizes)
    return _without_builds(description)


def _relax(item: Any, sizes: dict[tuple[Any, ...], list[int]]) -> None:
    """Inputs of models inside of a model: open for any batch, and for other pictures if there are any."""
    if isinstance(item, list):
        for one in item:
            _relax(one, sizes)
    if not isinstance(item, dict):
        return
    if item.get("class_name") == "InputLayer":
        row = item["config"]
        old = row[_shape_key(row)][1:]
        is_open = sizes and len(old) == 3
        row[_shape_key(row)] = [None, *sizes.get(tuple(old), [None, None, old[2]] if is_open else old)]
        return
    for one in item.values():
        _relax(one, sizes)


def _shape_key(row: dict[str, Any]) -> str:
    return next(key for key in _SHAPE_KEYS if key in row)


def _without_builds(item: Any) -> Any:
    """The description without the shapes that its layers were built for."""
    if isinstance(item, list):
        return [_without_builds(one) for one in item]
    if isinstance(item, dict):
        return {key: _without_builds(value) for key, value in item.items() if key not in _BUILT_FOR}
    return item


def _check_weights(model: Any, made: Any) -> None:
    """ValueError unless every weight is what it was: loading may leave out what does not match."""
    import numpy as np

    _check_sizes(model, made)
    same = len(model.weights) == len(made.weights)
    if not same or not all(map(np.array_equal, model.get_weights(), made.get_weights())):
        raise ValueError(f"{_RIGID}: its weights would not be the same")


def _check_sizes(model: Any, made: Any) -> None:
    """ValueError for the first weight that would need another shape."""
    for before, after in zip(model.weights, made.weights, strict=False):
        old, new = list(before.shape), list(after.shape)
        if old != new:
            name = str(getattr(before, "path", before.name))[:80]
            raise ValueError(f"{_RIGID}: its weight {name!r} is {old}, and would have to be {new}")


def _reason(error: Exception) -> str:
    """What an error says, in one short line."""
    return " ".join(_COLOURS.sub("", str(error)).split())[:_MOST_WORDS] or type(error).__name__
