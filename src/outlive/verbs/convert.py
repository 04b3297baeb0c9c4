"""`convert`: a model that TensorFlow's converter makes in a worker."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from outlive.finding import Finding
from outlive.quant.conversion import (
    Converted,
    convert_model,
    described,
    expectation,
    parse_settings,
    with_unknown_types,
)
from outlive.verbs.check import check
from outlive.verbs.guard import guarded
from outlive.verbs.judging import JUDGE
from outlive.verbs.progress import heard
from outlive.verbs.read import read


@heard
def convert(
    source: Any,
    *,
    samples: Any = None,
    signature: Sequence[tuple[Sequence[int | None], str] | str] | None = None,
    memory: str | int | None = None,
    seconds: float | None = None,
    tell: Callable[[str], None] = lambda step: None,
    **settings: Any,
) -> Converted:
    """Convert a TensorFlow or Keras model in a worker: `.model`, `.save(path)`, `.findings`.

    `source` is a SavedModel folder, a .keras or .h5 file, a Keras model, a function that returns one (also as
    "file.py::function"), or with `signature` ([(shape, dtype), ...] or ["1x4:float32", ...]) the function to
    convert. `settings` are those of TFLiteConverter and its target_spec, in words: optimizations=["DEFAULT"],
    supported_ops=["TFLITE_BUILTINS_INT8"]. `samples` (as for `compare`) are checked first; then they are the
    representative dataset.

    >>> outlive.convert("model.keras").save("model.tflite")  # doctest: +SKIP
    """
    started, settings = time.perf_counter(), parse_settings(settings)
    made = convert_model(
        source, settings, samples=samples, signature=signature, tell=tell,
        judge=JUDGE,
        guard=partial(guarded, memory=memory, seconds=seconds, quiet=True),
    )  # fmt: skip
    wanted = expectation(settings, samples)
    found = check(made.model, expect=wanted, select=("Q201",)).findings if wanted else ()
    made = replace(made, findings=tuple(with_unknown_types(finding, settings) for finding in found))
    return described(made, source, settings, time.perf_counter() - started)


def unquantized(made: bytes, settings: Mapping[str, Any], samples: Any) -> tuple[Finding, ...]:
    """The finding for a model that was to be quantized by these settings and holds nothing but floats.

    One that is quantized in part is what the converter gives where an operator has no other kernel.
    """
    wanted = expectation(settings, samples)
    if wanted is None:
        return ()
    tensors = read(made, tolerant=True).tensors()
    if any(tensor.dtype == "float16" or tensor.quantization is not None for tensor in tensors):
        return ()
    found = check(made, expect=wanted, select=("Q201",))
    return tuple(with_unknown_types(finding, settings) for finding in found)
