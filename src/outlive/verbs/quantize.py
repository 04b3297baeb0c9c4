"""`quantize`: a float model quantized in a worker."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any

from outlive.model import Model, Source, Tensor, read_source
from outlive.quant import Drift, Quantized
from outlive.quant.capture import freeing_memory
from outlive.quant.comparison import compare_models
from outlive.quant.comparison_plan import CompareTask
from outlive.quant.quantization import QuantizeTask, needs_conversion, quantize_model
from outlive.quant.quantized import check_target, select
from outlive.quant.recipes import RECIPES, find_recipe, narrowed
from outlive.quant.samples import Samples
from outlive.rules import judge
from outlive.verbs.convert import convert
from outlive.verbs.guard import guarded
from outlive.verbs.judging import JUDGE
from outlive.verbs.progress import heard
from outlive.verbs.read import sound


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
    until_sqnr: float | None = None,
    until_agreement: float | None = None,
    until: Any = None,
    metrics: Mapping[str, Callable[..., float]] | None = None,
    tell: Callable[[int], None] = lambda sample: None,
) -> Quantized:
    """Quantize a float model with ai-edge-quantizer, in a worker: `.model`, `.save(path)`, `.layers`.

    `recipe` is dynamic-int8, weight-only-int8, weight-only-int4, fp16, static-int8, static-int16x8, a .json
    file or its rows; static recipes need `samples` (as for `compare`). `skip` and `only` choose operators.
    `until_sqnr=30` or `until_agreement=0.99` keeps the worst layers in float until the target is met. Names
    of `metrics` (as for `compare`) can be targets too: `until={"sqnr": 30, "mine": 0.9}`; or `until` is a
    function of a Drift. TensorFlow converts a Keras model (.keras, .h5 or an object) or a SavedModel first,
    in a worker.

    >>> outlive.quantize("healthy.tflite", "dynamic-int8")
    Quantized(dynamic-int8: 11 of 16 operators, ... KiB)
    """
    wanted = _bounds(until_sqnr, until_agreement) if until is None else until
    target = None if wanted is None else check_target(wanted, tuple(metrics or ()))
    if io not in ("float", "int8"):
        raise ValueError(f"inputs and outputs are float or int8, not {io!r:.40}")
    if target is not None and samples is None:
        raise ValueError("an accuracy target needs samples")
    name, rows = find_recipe(recipe)
    is_tflite = not needs_conversion(source)
    model = sound(source if is_tflite else convert(source, memory=memory, seconds=seconds).model)
    guard = partial(guarded, memory=memory, seconds=seconds, quiet=True)

    def make(kept: tuple[str, ...]) -> Quantized:
        left_out = (*skip, *kept)
        chosen = narrowed(rows, model, left_out, only, io)
        order = QuantizeTask(
            model=model, name=name, recipe=chosen, judge=JUDGE, skip=left_out, only=tuple(only)
        )
        return quantize_model(order, stream, guard, tell)

    with ExitStack() as stack:
        stack.enter_context(freeing_memory())
        stream = None if samples is None else stack.enter_context(Samples(samples, model, JUDGE))
        held = partial(_held_against, model, samples=stream, metrics=metrics or {})
        made = make(()) if target is None else select(make, held, target)
    path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else model.path
    return replace(made, source_path=path, findings=judge({"quantized": made}).findings)


def _bounds(sqnr: float | None, agreement: float | None) -> dict[str, float] | None:
    bounds = (("sqnr", sqnr), ("agreement", agreement))
    return {name: least for name, least in bounds if least is not None} or None


def _held_against(
    reference: Model, content: bytes, samples: Samples | None, metrics: Mapping[str, Callable[..., float]]
) -> Drift:
    candidate = read_source(content).model
    assert candidate is not None, "the quantizer writes files that can be read"
    assert samples is not None, "a target needs them"
    return compare_models(
        CompareTask(reference=reference, candidate=candidate, judge=JUDGE, metrics=metrics), samples
    )


def recipe_names() -> tuple[str, ...]:
    """The recipes that have a name."""
    return tuple(RECIPES)


def quantize_input(details: Mapping[str, Any] | Tensor, values: Any) -> Any:
    """Convert real numbers to the integers of a quantized input, with the scale and zero point of the model.

    `details` is a row of `get_input_details()`, or a tensor of a model that was read. For an input that is
    not quantized, the result has the values in its type. Raises ValueError for NaN.

    >>> tensor = outlive.read("healthy_int8.tflite").inputs[0]
    >>> outlive.quantize_input(tensor, [0.0, 1.0]).dtype.name
    'int8'
    """
    from outlive.interpreter.affine import quantize
    from outlive.planning.planner import affine_parameters

    return quantize(affine_parameters(details), values)


def dequantize_output(details: Mapping[str, Any] | Tensor, values: Any) -> Any:
    """Convert the integers of a quantized output to real numbers; `details` is as for `quantize_input`.

    >>> tensor = outlive.read("healthy_int8.tflite").outputs[0]
    >>> float(outlive.dequantize_output(tensor, [-128])[0])
    0.0
    """
    from outlive.interpreter.affine import dequantize
    from outlive.planning.planner import affine_parameters

    return dequantize(affine_parameters(details), values)
