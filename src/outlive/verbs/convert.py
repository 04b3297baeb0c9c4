"""`convert`: a model that TensorFlow's converter makes in a worker."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from outlive.finding import Finding
from outlive.guarding.caller_state import IS_WORKER
from outlive.names import safe
from outlive.quant.carried_converter import CannotCarry, run_carried
from outlive.quant.conversion import (
    Converted,
    convert_model,
    described,
    expectation,
    parse_settings,
    with_unknown_types,
)
from outlive.quant.rebuilt_converter import convert_carried
from outlive.verbs.check import check
from outlive.verbs.guard import guarded
from outlive.verbs.judging import JUDGE
from outlive.verbs.progress import heard
from outlive.verbs.read import read

_MOST_WORDS = 300


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


def convert_protected(converter: Any, here: Callable[[], Any]) -> Any:
    """What `convert()` of a TFLiteConverter gives, made in a worker where that can be; else by `here`.

    An ordinary error is raised by TensorFlow itself, here; `ModelDied` or `LimitReached` is the worker's.
    """
    return carried_or_here(lambda: run_carried(converter, guarded(convert_carried, plain=bytes), JUDGE), here)


def carried_or_here(in_worker: Callable[[], Any], here: Callable[[], Any]) -> Any:
    """What a converter makes in a worker, or, with a line that says why, in this process."""
    if IS_WORKER:
        return here()
    try:
        return in_worker()
    except CannotCarry as error:
        said, made = str(error), here()
    # Not earlier: if it raises here too, that says it all.
    sys.stderr.write(f"outlive: converted in this process, not in a worker: {safe(said, _MOST_WORDS)}\n")
    return made


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
