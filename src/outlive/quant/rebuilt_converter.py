"""The worker's side of `carried_converter`: the caller's TFLiteConverter, set up again and used."""

import hashlib
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from outlive.quant.worker_functions import calibrated_models

_KERAS_PARTS = ("config.json", "model.weights.h5")


def convert_carried(
    kind: str, settings: dict[str, Any], source: dict[str, Any], samples: Iterator[Any] | None
) -> bytes:
    """What `convert()` of the caller's converter gives; it is set up again here (`carried_converter`)."""
    return bytes(rebuilt_converter(kind, settings, source, samples).convert())


def calibrated_carried(
    kind: str,
    settings: dict[str, Any],
    source: dict[str, Any],
    samples: Iterator[Any] | None,
    with_float: bool,
) -> tuple[bytes, bytes | None, bool]:
    """The same for a debugger: see `calibrated_models`."""
    return calibrated_models(rebuilt_converter(kind, settings, source, samples), with_float)


def rebuilt_converter(
    kind: str, settings: dict[str, Any], source: dict[str, Any], samples: Iterator[Any] | None
) -> Any:
    """The caller's converter, set up again."""
    from tensorflow.lite.python import lite

    made = getattr(lite, kind)
    converter = made.__new__(made)
    lite.TFLiteConverterBaseV2.__init__(converter)
    vars(converter).update(settings, _trackable_obj=None)
    if "keras" in source:
        converter._keras_model = _keras_with_names(source["keras"], source["inputs"])
    elif "exported" in source:
        _use_export(lite, converter, source)
    elif "frozen" in source:
        _use_graph(converter, source)
    if samples is not None:
        converter.representative_dataset = _streamed(samples)
    return converter


def _streamed(samples: Iterator[Any]) -> Callable[[], Iterator[Any]]:
    """The caller's representative dataset, each time from its start; it may be what TensorFlow takes."""

    def dataset() -> Iterator[Any]:
        for item in samples:
            if item is None:
                return
            yield item[0]

    dataset.unchecked = True  # type: ignore[attr-defined]
    return dataset


def _keras_with_names(path: str, names: list[str]) -> Any:
    """The Keras model with the names that its inputs had; loaded once while it stays as it is."""
    import tensorflow as tf

    with zipfile.ZipFile(path) as archive:
        parts = [archive.read(name) for name in _KERAS_PARTS]
    digest = hashlib.sha256(b"".join(parts)).hexdigest()
    if digest not in _loaded:
        _loaded.clear()
        _loaded[digest] = tf.keras.models.load_model(path, compile=False)
    model = _loaded[digest]
    for tensor, name in zip(model.inputs, names, strict=True):
        tensor.name = name
    return model


_loaded: dict[str, Any] = {}  # the last Keras model, by its content


class _Exported:
    """In the place of what the caller has exported to a folder: a model, or a function with its graph."""

    def __init__(self, folder: str = "", name: str = "", graph: Any = None) -> None:
        self.folder, self.name, self.graph = folder, name, graph or self


class _Saving:
    """In the place of TensorFlow's module that saves models: what is exported already is copied."""

    def __init__(self, own: Any) -> None:
        self.own = own

    def save(self, model: Any, folder: str, **named: Any) -> None:
        if isinstance(model, _Exported):
            shutil.copytree(model.folder, folder, dirs_exist_ok=True)
        else:
            self.own.save(model, folder, **named)


def _use_export(lite: Any, converter: Any, source: dict[str, Any]) -> None:
    """Let the converter find the caller's SavedModel where it would export its model."""
    converter._funcs = [_Exported(name=name) for name in source.get("names", ())]
    converter._keras_model = converter._trackable_obj = _Exported(source["exported"])
    if not isinstance(lite._save, _Saving):
        lite._save = _Saving(lite._save)


def _use_graph(converter: Any, source: dict[str, Any]) -> None:
    """Let the converter find the caller's frozen graph, which is optimized already."""
    import tensorflow as tf

    definition = tf.compat.v1.GraphDef.FromString(Path(source["frozen"]).read_bytes())
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(definition, name="")
    inputs, outputs = (
        [graph.get_tensor_by_name(name) for name in source[end]] for end in ("inputs", "outputs")
    )
    converter._funcs = [_Exported(graph=graph)]
    converter._freeze_concrete_function = lambda: (definition, inputs, outputs, None)
    converter._optimize_tf_model = lambda *_: definition
