"""What quantization changes: verbs about numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from outlive.api.files import check, sound
from outlive.api.progress import heard
from outlive.model import Model, Source, Tensor

if TYPE_CHECKING:
    from outlive.quant.converting import Converted
    from outlive.quant.nouns import Drift, Quantized


@heard
def compare(
    reference: Source | Model,
    candidate: Source | Model,
    samples: Any = None,
    *,
    layers: Sequence[str | int] = (),
    metrics: Mapping[str, Callable[..., float]] | None = None,
    accelerator: str = "cpu",
    memory: str | int | None = None,
    born_here: bool = True,
    tell: Callable[[int, int, int], None] = lambda turn, turns, sample: None,
) -> Drift:
    """How far a candidate is from its reference, tensor by tensor: `.tensors`, `.outputs`, `.worst()`.

    `samples` are arrays, a mapping of names to arrays, an iterable of samples or a function that gives one,
    an .npz file or a folder. `layers` are types, names, patterns, indices or ranges ("10:20") of operators;
    `metrics` functions of an output of both, and, if they take a third argument, of the sample's number;
    `memory` bounds what is held at once (512MB, or what a single operator takes, if that is more).
    """
    from outlive.report.drift_verdict import compare_models

    return compare_models(
        sound(reference), sound(candidate), samples, layers=layers, metrics=metrics, memory=memory,
        accelerator=accelerator, born_here=born_here, tell=tell,
    )  # fmt: skip


@heard
def quantize(
    source: Source | Model,
    recipe: Any = "dynamic-int8",
    samples: Any = None,
    *,
    skip: Sequence[str] = (),
    only: Sequence[str] = (),
    io: str = "float",
    memory: str | int | None = None,
    seconds: float | None = None,
    until: Any = None,
    metrics: Mapping[str, Callable[..., float]] | None = None,
    tell: Callable[[int], None] = lambda sample: None,
) -> Quantized:
    """A float model quantized by ai-edge-quantizer in a worker: `.model`, `.save(path)`, `.layers`.

    `recipe` is dynamic-int8, weight-only-int8, weight-only-int4, fp16, static-int8, static-int16x8, a .json
    file or its rows; static ones need `samples` (as for `compare`). `skip` and `only` choose operators.
    `until={"sqnr": 30}` or `{"agreement": 0.99}` keeps the worst layers float until the target is met; names
    of `metrics` (as for `compare`) can stand there too, or it is a function of a Drift.
    A Keras model (.keras, .h5 or an object) or a SavedModel is converted first, by TensorFlow in a worker.
    """
    from outlive.quant.lending import needs_conversion
    from outlive.report.drift_verdict import quantize_source

    if needs_conversion(source):
        source = convert(source, memory=memory, seconds=seconds).model
    return quantize_source(
        sound(source),
        recipe,
        samples,
        skip=skip,
        only=only,
        io=io,
        memory=memory,
        seconds=seconds,
        until=until,
        metrics=metrics,
        tell=tell,
    )


@heard
def convert(
    source: Any,
    *,
    samples: Any = None,
    signature: Sequence[tuple[Sequence[int | None], str]] | None = None,
    memory: str | int | None = None,
    seconds: float | None = None,
    tell: Callable[[int], None] = lambda sample: None,
    **settings: Any,
) -> Converted:
    """A model that TensorFlow's converter makes in a worker: `.model`, `.save(path)`, `.findings`.

    `source` is a SavedModel folder, a .keras or .h5 file, a Keras model, a function that makes one, or with
    `signature` ([(shape, dtype), ...]) the function to convert. `settings` are those of TFLiteConverter and
    its target_spec, as words: optimizations=["DEFAULT"], supported_ops=["TFLITE_BUILTINS_INT8"]. `samples`
    (as for `compare`) are checked first, and then its representative dataset.
    """
    from outlive.quant.converting import convert_model, expectation, with_unknown_types
    from outlive.worker.guards.guarding import make_guarded

    made = convert_model(
        source, settings, samples=samples, signature=signature, tell=tell,
        guard=partial(make_guarded, memory=memory, seconds=seconds, quiet=True),
    )  # fmt: skip
    wanted = expectation(settings, samples)
    found = check(made.model, expect=wanted, select=("Q201",)).findings if wanted else ()
    return replace(made, findings=tuple(with_unknown_types(finding, settings) for finding in found))


def quantize_input(details: Mapping[str, Any] | Tensor, values: Any) -> Any:
    """Real numbers as the integers a quantized input takes, with the model's own scale and zero point.

    `details` is a row of `get_input_details()`, or a tensor of a model that was read. For an input that is
    not quantized, the values in its type. ValueError for NaN.
    """
    from outlive.fitting.feeding import affine_parameters
    from outlive.worker.affine import quantize

    return quantize(affine_parameters(details), values)


def dequantize_output(details: Mapping[str, Any] | Tensor, values: Any) -> Any:
    """The real numbers that values of a quantized output stand for; `details` as for `quantize_input`."""
    from outlive.fitting.feeding import affine_parameters
    from outlive.worker.affine import dequantize

    return dequantize(affine_parameters(details), values)
