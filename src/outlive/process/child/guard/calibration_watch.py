"""Samples for TensorFlow's converter and its quantization debugger, checked before native code sees them.

Without this, no samples or samples of NaN give a model that is silently not quantized, a wrong shape gives
one that is calibrated for another shape, and an infinity ends the process. Runs in the worker of a guarded
function: `install()` waits for the modules to be imported and wraps the method that all samples go through.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any


class SamplesRefused(ValueError):
    """Samples that must not be used; `refusal` says which and why, in words of the caller's side."""

    def __init__(self, text: str, refusal: dict[str, Any]) -> None:
        """Keep both."""
        super().__init__(text, refusal)
        self.refusal = refusal

    def __str__(self) -> str:
        """The words alone."""
        return str(self.args[0])


def install() -> None:
    """Wrap what is imported now, and what is not when it is."""
    for name, wrap in _WRAPPERS.items():
        loaded = sys.modules.get(name)
        if loaded is not None:
            wrap(loaded)
    if not any(isinstance(finder, _ImportHook) for finder in sys.meta_path):
        sys.meta_path.insert(0, _ImportHook())


class _ImportHook(importlib.abc.MetaPathFinder):
    """Finds those modules as the others would, and wraps each when it has been executed."""

    def __init__(self) -> None:
        """Look for all of them."""
        self._left = dict(_WRAPPERS)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The module's own specification, with a loader that wraps."""
        wrap = self._left.pop(fullname, None)  # and when asked again, on the next line, it is not ours
        if wrap is None:
            return None
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_wrap(module: ModuleType) -> None:
                execute(module)
                wrap(module)

            spec.loader.exec_module = execute_and_wrap  # type: ignore[method-assign]
        return spec


def _wrap_calibrator(module: ModuleType) -> None:
    """TensorFlow 2.18 and 2.21: tensorflow/lite/python/optimize/calibrator.py."""
    calibrator = getattr(module, "Calibrator", None)
    feed = getattr(calibrator, "_feed_tensors", None)
    if feed is None or hasattr(feed, "outlive"):
        return  # another version of TensorFlow: nothing is checked, and nothing breaks

    def checked_feed(self: Any, dataset_gen: Any, resize_input: bool) -> Any:
        if hasattr(dataset_gen, "unchecked"):  # it must do what TensorFlow does, and may die of it
            return feed(self, dataset_gen, resize_input)
        wanted = _wanted(module.Interpreter(model_content=self._model_content))
        return feed(self, lambda: checked(dataset_gen(), wanted), resize_input)

    checked_feed.outlive = True  # type: ignore[attr-defined]
    calibrator._feed_tensors = checked_feed  # type: ignore[union-attr]


def _wrap_debugger(module: ModuleType) -> None:
    """TensorFlow 2.18 and 2.21: tensorflow/lite/tools/optimize/debugging/python/debugger.py."""
    debugger = getattr(module, "QuantizationDebugger", None)
    give = getattr(debugger, "_set_input_tensors", None)
    if give is None or hasattr(give, "outlive"):
        return

    def checked_give(self: Any, interpreter: Any, tensor_data: Any, initialize: bool) -> Any:
        for value, wanted in zip(tensor_data, _wanted(interpreter)):
            _check(value, dict(wanted, dtype=None), None)
        return give(self, interpreter, tensor_data, initialize)

    checked_give.outlive = True  # type: ignore[attr-defined]
    debugger._set_input_tensors = checked_give  # type: ignore[union-attr]


_WRAPPERS: dict[str, Callable[[ModuleType], None]] = {
    "tensorflow.lite.python.optimize.calibrator": _wrap_calibrator,
    "tensorflow.lite.tools.optimize.debugging.python.debugger": _wrap_debugger,
}


def _wanted(interpreter: Any) -> list[dict[str, Any]]:
    """Name, shape (-1 where it may vary) and type of each input of the model."""
    rows = interpreter.get_input_details()
    return [
        {
            "name": row["name"],
            "index": int(row["index"]),
            "shape": [int(size) for size in row.get("shape_signature", row["shape"])],
            "dtype": row["dtype"].__name__,
        }
        for row in rows
    ]


def checked(samples: Any, wanted: list[dict[str, Any]]) -> Iterator[Any]:
    """The same samples, up to the first that must not be used."""
    count = 0
    for sample in samples:
        for number, value in enumerate(_values(sample)):
            _check(value, wanted[number] if number < len(wanted) else None, count)
        count += 1
        yield sample
    if not count:
        raise SamplesRefused(
            "the representative dataset gave no samples: the model would silently not be quantized",
            {"problem": "no-samples", "text": "the representative dataset ended before its first sample"},
        )


def _values(sample: Any) -> list[Any]:
    """The arrays of a sample that come in the model's order; of named ones the calibrator knows the order."""
    return list(sample) if isinstance(sample, list) else []


def _check(value: Any, wanted: dict[str, Any] | None, number: int | None) -> None:
    import numpy as np

    array = np.asarray(value)
    facts = {"given_shape": list(array.shape), "given_dtype": array.dtype.name}
    if wanted is not None:
        facts.update(
            index=wanted["index"],
            name=wanted["name"],
            wanted_shape=wanted["shape"],
            wanted_dtype=wanted["dtype"] or array.dtype.name,
        )
        if not _fits(array.shape, wanted["shape"]) or array.dtype.name != facts["wanted_dtype"]:
            raise _refuse("sample-misfit", number, facts, "does not fit the model", _which(number))
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return
    wrong = int(np.isnan(array).sum())
    if wrong:
        raise _refuse("nan-in-sample", number, facts, "holds NaN", str(wrong))
    raise _refuse("infinity-in-sample", number, facts, "holds an infinity", str(int(np.isinf(array).sum())))


def _fits(given: Any, wanted: list[int]) -> bool:
    return len(given) == len(wanted) and all(size < 0 or size == one for one, size in zip(given, wanted))


def _which(number: int | None) -> str:
    debugging = "a sample for the quantization debugger"
    return debugging if number is None else "sample %d of the representative dataset" % number


def _refuse(
    problem: str, number: int | None, facts: dict[str, Any], what: str, detail: str
) -> SamplesRefused:
    named = ", for input %r," % facts["name"] if facts.get("name") else ""
    return SamplesRefused(
        "%s%s %s" % (_which(number), named, what), dict(facts, problem=problem, text=detail)
    )
