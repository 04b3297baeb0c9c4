"""What runs in workers: TensorFlow's converter and ai-edge-quantizer; the caller never imports them.

Settings are those of tf.lite.TFLiteConverter and of its target_spec, by name; their values may be words, so
that the caller needs no TensorFlow: optimizations=["DEFAULT"], supported_ops=["TFLITE_BUILTINS_INT8"],
inference_input_type="int8". Input shapes can be changed before the conversion:

.keras, .h5 ─► saved once more ─► the inputs of its description changed ─► loaded: same weights, or ValueError
SavedModel  ─► the signature's function, called with these shapes, if its own leave them open, or ValueError

The quantizer is fed one sample at a time.
"""

import json
import os
import re
import runpy
import shutil
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
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
        # TensorFlow warns of its own parts: an interpreter that will go, statistics that are missing.
        warnings.simplefilter("ignore")
        import tensorflow as tf

        if shapes is not None:
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
            raise RuntimeError("the converter read its samples twice; only one pass is possible")
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
    if specs is None and not hasattr(what, "get_concrete_function"):
        return _of_made(tf, what())
    signature = [tf.TensorSpec(shape, dtype) for shape, dtype in specs or ()]
    function = what if hasattr(what, "get_concrete_function") else tf.function(what)
    return make.from_concrete_functions([function.get_concrete_function(*signature)], function)


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
        f"the function returned a {type(made).__name__}, not a Keras model, a tf.function, a concrete "
        "function or a converter (or give signature=[(shape, dtype), ...] to convert the function itself)"
    )


def _set(tf: Any, converter: Any, name: str, value: Any) -> None:
    is_target = hasattr(converter.target_spec, name)
    if not is_target and (not hasattr(converter, name) or callable(getattr(converter, name))):
        settings = {**vars(converter), **vars(converter.target_spec)}
        known = sorted(setting for setting in settings if not setting.startswith("_"))
        raise TypeError(f"the converter has no setting {name!r}; it has {', '.join(known)}")
    setattr(converter.target_spec if is_target else converter, name, _value(tf, name, value))


def _value(tf: Any, name: str, value: Any) -> Any:
    """A word as what it stands for."""
    kinds = {"optimizations": tf.lite.Optimize, "supported_ops": tf.lite.OpsSet}
    if name in kinds:
        return [getattr(kinds[name], one.upper()) if isinstance(one, str) else one for one in value]
    if name == "supported_types":
        return [tf.as_dtype(one) for one in value]
    return tf.as_dtype(value) if name in _TYPES and isinstance(value, str) else value


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


def calibrated_models(converter: Any, with_float: bool) -> tuple[bytes, bytes | None, bool]:
    """The calibrated model, the float one if it is wanted, and whether channels share a scale."""
    floating = None
    if with_float:
        optimizations, converter.optimizations = converter.optimizations, []
        floating = bytes(converter.convert())
        converter.optimizations = optimizations
    # The private names are those that tf.lite.experimental.QuantizationDebugger sets itself.
    converter.experimental_mlir_quantizer = True
    converter._experimental_calibrate_only = True
    calibrated = bytes(converter.convert())
    return calibrated, floating, bool(converter._experimental_disable_per_channel)


def quantized_model(
    calibrated: bytes,
    share_scales: bool,
    denied_ops: list[str] | None,
    denied_nodes: list[str] | None,
    fully: bool,
    debug: bool,
) -> bytes:
    """The quantized model; with `debug`, operators that compare each layer with its float twin are in it."""
    from tensorflow.lite.python import convert

    made = convert.mlir_quantize(
        calibrated,
        disable_per_channel=share_scales,
        fully_quantize=fully,
        enable_numeric_verify=debug,
        denylisted_ops=denied_ops,
        denylisted_nodes=denied_nodes,
    )
    return bytes(made)


_PLAIN = "min_max_uniform_quantize"


def quantize_content(
    content: bytes,
    recipe: Sequence[Mapping[str, Any]],
    signature: str | None,
    samples: Iterable[Mapping[str, Any]] | None,
    careful: bool,
) -> tuple[bytes, int]:
    """The quantized model, and how many samples it was calibrated with.

    Ranges are measured by the runtime itself as it runs, or, if that is to be done with care, by looking at
    every tensor after each run, which takes five times as long and knows more operators.
    """
    from ai_edge_quantizer import quantizer

    _silence_bars()
    warnings.simplefilter("ignore")  # that keeping all tensors takes memory: it is meant to
    engine = quantizer.Quantizer(content, list(recipe))
    ranges, count = None, 0
    if engine.need_calibration:
        ranges, count = _calibrated(content, recipe, signature, samples or (), careful)
        if not ranges:
            return content, count  # it has nothing for any operator, and would refuse to say so
    made = engine.quantize(ranges, enable_progress_bar=False, enable_progress_report=False)
    assert made.quantized_model is not None
    return bytes(made.quantized_model), count


def _silence_bars() -> None:
    """Turn off the quantizer's own progress bars: the caller shows progress."""
    from ai_edge_quantizer.utils import progress_utils

    class Silent(progress_utils.ProgressBar):  # type: ignore[misc,unused-ignore]
        def __init__(self, *words: Any, **named: Any) -> None:
            super().__init__(*words, **{**named, "enable": False})

    if progress_utils.ProgressBar.__name__ != Silent.__name__:
        progress_utils.ProgressBar = Silent


def _calibrated(
    content: bytes,
    recipe: Sequence[Mapping[str, Any]],
    signature: str | None,
    samples: Iterable[Mapping[str, Any]],
    careful: bool,
) -> tuple[Any, int]:
    """The ranges of all tensors over the samples.

    Each sample is a data set of its own: given all at once, the calibrator would make a list of them first.
    Ranges are the least and greatest value of any sample, as TensorFlow's converter takes them; the moving
    average that the calibrator has by itself nearly forgets all but the first sample.
    """
    from ai_edge_quantizer import calibrator, recipe_manager
    from ai_edge_quantizer.utils import qsv_utils

    manager = recipe_manager.RecipeManager()
    manager.load_quantization_recipe(list(recipe))
    own = any(row["algorithm_key"] not in (_PLAIN, "no_quantize") for row in recipe)
    kinds = calibrator.CalibrationMode
    looking = own or careful
    options = {} if own else {"qsv_update_func": qsv_utils.min_max_update}
    options["mode"] = kinds.CALIBRATION_PRESERVE_ALL_TENSORS if looking else kinds.CALIBRATION_PROFILER_BASED
    watcher = calibrator.Calibrator(content, num_threads=os.cpu_count() or 1, **options)
    count = 0
    for sample in samples:
        watcher.calibrate({signature: [dict(sample)]}, manager)
        count += 1
    return watcher.get_model_qsvs(), count
