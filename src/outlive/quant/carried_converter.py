"""A TFLiteConverter of the caller's, set up again in a worker with the same model and the same settings.

from_saved_model         ──► the path
from_keras_model         ──► a .keras file if all of it is Keras's own, else TensorFlow's own export
from_concrete_functions  ──► that export; the frozen graph where TensorFlow converts from one itself
representative_dataset   ──► stays here; the worker asks for one sample after the other
settings                 ──► as they are

What is carried gives the bytes that `convert()` gives here. What cannot be carried raises `CannotCarry`.
Names of attributes and methods are TensorFlow 2.21's (lite/python/lite.py); without them nothing is carried.
"""

import copy
import json
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from outlive.errors import LimitReached, ModelDied, WorkerUnavailable
from outlive.guarding.worker_errors import CannotSend
from outlive.interpreter.judge import Call, Judge

_HOME = "tensorflow.lite.python.lite"
# What belongs to a model or a process, and what TensorFlow works out anew at each conversion.
_STAYS = frozenset({
    "representative_dataset", "_keras_model", "_trackable_obj", "_funcs", "_tflite_metrics", "_debug_info",
    "_quant_mode", "_collected_converter_params",
})  # fmt: skip
_KERAS_MODELS = ("Functional", "Sequential")
# What the description of a Keras model says of its parts, if they are Keras's own.
_OWN_PARTS = ("keras", "builtins")
_CODE = ("Lambda", "__lambda__", "function")


class CannotCarry(Exception):
    """A converter that cannot be set up again in a worker; the words say why."""


def run_carried(converter: Any, work: Callable[..., Any], judge: Judge, *more: Any) -> Any:
    """What `work` gives in a worker of a converter that is carried there.

    `CannotCarry` if it cannot be, or if `work` raises an ordinary error, which may be ours: no process, a
    library of operators that only the caller has loaded. What the dataset raises is raised as it is.
    """
    dataset = getattr(converter, "representative_dataset", None)
    stream = None if dataset is None else SampleStream(dataset)
    with tempfile.TemporaryDirectory(prefix="outlive-convert-") as folder:
        parts = carried(converter, Path(folder))
        try:
            return work(*parts, None if stream is None else stream.items(), *more)
        except CannotSend as error:
            raise CannotCarry(str(error)) from error
        except WorkerUnavailable as error:
            raise CannotCarry("no worker can be started") from error
        except (ModelDied, LimitReached) as error:
            if stream is None or stream.infinite is None or isinstance(error, LimitReached):
                raise
            raise judge.refused(stream.infinite) from error
        except Exception as error:
            if stream is not None and stream.raised is not None:
                raise stream.raised from None
            if hasattr(error, "finding"):  # about memory
                raise
            reason = next(iter(str(error).splitlines()), "")
            raise CannotCarry(f"it failed there: {type(error).__name__}: {reason[:200]}") from error


def carried(converter: Any, folder: Path) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """The class of a converter, its settings, and where its model is: files in the folder, or its own."""
    kind = type(converter).__name__
    carry = _WAYS.get(kind)
    if carry is None or type(converter).__module__ != _HOME:
        raise CannotCarry(f"a worker cannot rebuild a {kind}")
    if not getattr(converter, "experimental_new_converter", False):
        raise CannotCarry("experimental_new_converter=False is not supported in a worker")
    settings = {name: value for name, value in vars(converter).items() if name not in _STAYS}
    try:
        return kind, settings, carry(converter, folder)
    except CannotCarry:
        raise
    except Exception as error:
        reason = next(iter(str(error).splitlines()), "")
        raise CannotCarry(f"the model cannot be saved: {type(error).__name__}: {reason[:200]}") from error


class SampleStream:
    """What a representative dataset gives, sample by sample; None after the last, then from its start again.

    `raised` is what the dataset itself raised, `infinite` the first sample that holds an infinity.
    """

    def __init__(self, dataset: Any) -> None:
        """Nothing is asked for yet."""
        self._make: Callable[[], Any] = getattr(dataset, "input_gen", dataset)
        self.raised: BaseException | None = None
        self.infinite: Call | None = None

    def items(self) -> Iterator[list[Any] | None]:
        """The samples, each in a list of its own."""
        try:
            while True:
                for number, sample in enumerate(self._make()):
                    self.infinite = self.infinite or _infinite(sample, number)
                    yield [sample]
                yield None
        except Exception as error:
            self.raised = error
            raise


def _infinite(sample: Any, number: int) -> Call | None:
    """The sample as one that TensorFlow's quantizer cannot survive, if it holds an infinity."""
    named = sample[-1] if isinstance(sample, tuple) and sample else sample
    values = named.values() if isinstance(named, dict) else named if isinstance(named, (list, tuple)) else ()
    for value in values:
        array = np.asarray(value)
        if array.dtype.kind == "f" and np.isinf(array).any():
            return Call(
                problem="infinity-in-sample",
                text=str(int(np.isinf(array).sum())),
                name=f"sample {number} of the representative dataset",
                given_shape=array.shape,
                given_dtype=array.dtype.name,
            )
    return None


def _as_it_is(converter: Any, folder: Path) -> dict[str, Any]:
    """A SavedModel: the worker reads it itself."""
    return {}


def _keras_model(converter: Any, folder: Path) -> dict[str, Any]:
    model, path = converter._keras_model, folder / "model.keras"
    if type(model).__module__.startswith("keras.src.models.") and type(model).__name__ in _KERAS_MODELS:
        model.save(path)
        if _is_own(model, path):
            # Keras numbers the tensors of a process, and the names of inputs are in the converted model.
            return {"keras": str(path), "inputs": [tensor.name for tensor in model.inputs]}
    return _exported(converter, "_convert_keras_to_saved_model", folder)


def _is_own(model: Any, path: Path) -> bool:
    """True if Keras alone can build the model again: nothing of it is the user's code."""
    if any("call" in vars(layer) for layer in model._flatten_layers()):
        return False
    with zipfile.ZipFile(path) as archive:
        return _has_own_parts_only(json.loads(archive.read("config.json")))


def _has_own_parts_only(item: Any) -> bool:
    if isinstance(item, list):
        return all(map(_has_own_parts_only, item))
    if not isinstance(item, dict):
        return True
    # The user's own classes have another module, or none.
    if item.get("class_name") in _CODE or not str(item.get("module", "keras")).startswith(_OWN_PARTS):
        return False
    return all(map(_has_own_parts_only, item.values()))


def _functions(converter: Any, folder: Path) -> dict[str, Any]:
    if not converter._funcs:
        raise CannotCarry("there is no function to convert")
    if converter.experimental_lower_to_saved_model and _is_trackable(converter._trackable_obj):
        names = [function.graph.name for function in converter._funcs]
        return {**_exported(converter, "_convert_concrete_functions_to_saved_model", folder), "names": names}
    graph, inputs, outputs, frozen = converter._freeze_concrete_function()
    graph = converter._optimize_tf_model(graph, inputs, outputs, frozen)
    path = folder / "graph.pb"
    path.write_bytes(graph.SerializeToString())
    tensors = {"inputs": [one.name for one in inputs], "outputs": [one.name for one in outputs]}
    return {"frozen": str(path), **tensors}


def _is_trackable(holder: Any) -> bool:
    """True if TensorFlow saves the function with what holds its variables; without, it freezes the graph."""
    return bool(holder) and not {"ConcreteFunction", "Function"} & {
        kind.__name__ for kind in type(holder).__mro__
    }


def _exported(converter: Any, method: str, folder: Path) -> dict[str, Any]:
    """The SavedModel that TensorFlow makes before it converts; here it is not read back."""
    exporting = copy.copy(converter)
    exporting._parse_saved_model_args = lambda **_: setattr(exporting, "saved_model_dir", None)
    getattr(exporting, method)(str(folder / "exported"))
    if not (folder / "exported" / "saved_model.pb").exists():
        raise CannotCarry("TensorFlow cannot export the model as a SavedModel")
    return {"exported": str(folder / "exported")}


_WAYS: dict[str, Callable[[Any, Path], dict[str, Any]]] = {
    "TFLiteSavedModelConverterV2": _as_it_is,
    "TFLiteKerasModelConverterV2": _keras_model,
    "TFLiteFrozenGraphConverterV2": _functions,
    "TFLiteConverterV2": _functions,
}
