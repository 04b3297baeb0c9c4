"""Quantizes a float model in a worker with ai-edge-quantizer, and reports what became of each operator.

    model ─► a signature, if it has none ─► worker: calibrate, quantize ─► bytes ─► what is quantized now?
    samples ─► checked one by one ──────────┘

The quantizer runs models by their signatures only, so a model without one gets one for the time being. It
reads an operator's kind from `builtin_code` only, which files made before 2020 leave at 0, so that it would
take all their operators for ADD: the field is filled in.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from outlive.errors import ModelDied, ModelError, RunError
from outlive.interpreter.interpreter import WorkerInterpreter
from outlive.interpreter.judge import Call, Judge
from outlive.model import Model, read_source
from outlive.quant.capture import file_of
from outlive.quant.drift import InputRange
from outlive.quant.quantized import LayerResult, Quantized, Recipe
from outlive.quant.recipes import find_layers, needs_samples
from outlive.quant.samples import Samples, to_real
from outlive.quant.tensor_graph import CONVERSIONS, TensorGraph, affine, pair_models
from outlive.quant.worker_functions import quantize_content
from outlive.records import copy_fields
from outlive.surgery import Tree, tree_of
from outlive.units import Count

SIGNATURE = "outlive"


def needs_conversion(source: Any) -> bool:
    """True for what TensorFlow's converter has to make a .tflite of first: Keras models and SavedModels."""
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        return path.suffix.lower() in (".keras", ".h5") or os.path.isfile(path / "saved_model.pb")
    return hasattr(source, "save") and hasattr(source, "layers")


def prepare_for_quantizer(model: Model) -> tuple[bytes, str, list[str]]:
    """The file, the key of a signature of its main subgraph, and the names of the inputs in it, in order."""
    tree = tree_of(model.content)
    kinds = zip(tree["operator_codes"] or (), model.operator_codes, strict=True)
    known = [(row, code.type) for row, code in kinds]
    codes = [row if kind.startswith("unknown") else {**row, "builtin_code": kind} for row, kind in known]
    tree = with_full_floats({**tree, "operator_codes": codes}, model)
    inputs, outputs = model.subgraphs[0].input_indices, model.subgraphs[0].output_indices
    for signature in model.signatures:
        names = {index: name for name, index in signature.inputs}
        if signature.subgraph_index == 0 and set(names) == set(inputs):
            return file_of(tree), signature.key, [names[index] for index in inputs]
    named = [f"input_{place}" for place in range(len(inputs))]
    lent = {
        "signature_key": SIGNATURE,
        "subgraph_index": 0,
        "inputs": [{"name": name, "tensor_index": index} for name, index in zip(named, inputs, strict=True)],
        "outputs": [{"name": f"output_{place}", "tensor_index": out} for place, out in enumerate(outputs)],
    }
    signatures = [*(tree["signature_defs"] or ()), lent]
    return file_of({**tree, "signature_defs": signatures}), SIGNATURE, named


def with_full_floats(tree: Tree, model: Model) -> Tree:
    """The tree with float16 constants, which a DEQUANTIZE turns into float32, as the float32 they become.

    The quantizer wants weights to be constants; it fails on those that an operator has to make first.
    """
    main, graph = tree["subgraphs"][0], model.subgraphs[0]
    tensors, buffers = list(main["tensors"]), list(tree["buffers"])
    users = Counter(tensor.buffer_index for tensor in model.tensors())
    gone = set()
    for step in graph.operators:
        given = graph.tensors[step.inputs[0]] if step.type == "DEQUANTIZE" else None
        if given is None or given.dtype != "float16" or not given.has_data or given.sparsity is not None:
            continue
        buffers.append({"data": given.array().astype(np.float32).tobytes()})
        out = step.outputs[0]
        tensors[out] = {**tensors[out], "buffer": len(buffers) - 1, "shape": list(given.shape)}
        tensors[given.index] = {**tensors[given.index], "buffer": 0}
        if users[given.buffer_index] == 1:
            buffers[given.buffer_index] = {}  # the quantizer would carry the old value along
        gone.add(step.index)
    if not gone:
        return tree
    kept = [row for place, row in enumerate(main["operators"]) if place not in gone]
    first = {**main, "tensors": tensors, "operators": kept}
    return {**tree, "subgraphs": [first, *tree["subgraphs"][1:]], "buffers": buffers}


def remove_lent_signature(content: bytes) -> bytes:
    """The file without the signature that was lent to it."""
    tree = tree_of(memoryview(content))
    kept = [row for row in tree["signature_defs"] or () if row["signature_key"] != SIGNATURE]
    return file_of({**tree, "signature_defs": kept or None})


Tell = Callable[[int], None]  # how many samples the worker has taken
# What ai-edge-quantizer raises for models and recipes that it cannot deal with.
_REFUSALS = (ValueError, RuntimeError, LookupError, TypeError, AttributeError, AssertionError)
# How a function is run in a worker: `Guarded` with limits. It runs a model, so that it answers plainly.
Guard = Callable[..., Callable[..., Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantizeTask:
    """What is to be quantized, and how."""

    model: Model
    name: str
    recipe: Recipe
    judge: Judge
    skip: tuple[str, ...] = ()
    only: tuple[str, ...] = ()


def quantize_model(order: QuantizeTask, samples: Samples | None, guard: Guard, tell: Tell) -> Quantized:
    """The quantized model; `ModelError` with the quantizer's own words if it refuses."""
    started = time.perf_counter()
    wanted = needs_samples(order.recipe)
    if wanted and samples is None:
        text = f"the recipe {order.name} measures ranges with samples"
        raise order.judge.refused(Call(problem="no-samples", text=text))
    content, key, names = prepare_for_quantizer(order.model)
    run = guard(quantize_content, plain=(bytes, int))
    rows = [dict(row) for row in order.recipe]

    def attempt(careful: bool) -> tuple[bytes, int]:
        failed: list[Exception] = []
        feeds = _stream(samples, names, tell, failed) if wanted and samples is not None else None
        try:
            found: tuple[bytes, int] = run(content, rows, key, feeds, careful)
        except ImportError as error:
            raise order.judge.missing("absence", str(error)) from error
        except _REFUSALS as error:
            if failed:
                raise failed[0] from None  # the samples' own, and not what the quantizer made of it
            if getattr(error, "finding", None) is not None:
                raise
            raise _refusal(error, order.judge) from error
        return found

    try:
        made, count = attempt(False)  # ranges measured quickly
    except ModelError as refusal:
        if not wanted:
            raise
        try:
            made, count = attempt(True)
        except (ModelError, ModelDied):
            # Looking at every tensor also reads some that a run leaves untouched (text, resources), and fails
            # or dies of it: what was said first is the reason.
            raise refusal from refusal.__cause__
    made = made if key != SIGNATURE else remove_lent_signature(made)
    seen = samples.seen if count and samples is not None else ()
    return Quantized(
        refusal=_refused_by_runtime(made, order.judge),
        model=made,
        recipe=order.name,
        layers=tuple(_layers(order, made)),
        samples=count,
        float_bytes=order.model.file_bytes,
        seconds=time.perf_counter() - started,
        input_ranges=tuple(copy_fields(InputRange, one, can_hold=None) for one in seen),
    )


def _refused_by_runtime(content: bytes, judge: Judge) -> str:
    """What the runtime says to the new model if it does not take it; empty if it does."""
    try:
        with WorkerInterpreter(model_content=content, _judge=judge) as engine:
            engine.allocate_tensors()
    except RunError as error:
        return str(error).splitlines()[0][:300]
    return ""


def _refusal(error: Exception, judge: Judge) -> ModelError:
    words = str(error).strip().splitlines()
    text = f"{type(error).__name__}: {words[0][:300] if words else 'no words'}"
    refused = judge.refused(Call(problem="quantizer-refused", text=text))
    return ModelError(refused.finding, str(refused))


def _stream(
    samples: Samples, names: list[str], tell: Tell, failed: list[Exception]
) -> Iterator[dict[str, Any]]:
    """Checked samples under the signature's names, in the real numbers a float model takes.

    What the samples themselves raise is added to `failed`.
    """
    try:
        for number, feed in enumerate(samples, 1):
            yield {
                name: to_real(affine(tensor), value) if affine(tensor).is_quantized else value
                for name, tensor, value in zip(names, samples.model.inputs, feed, strict=True)
            }
            tell(Count(number, samples.total))
    except Exception as error:
        failed.append(error)
        raise


def _layers(order: QuantizeTask, made: bytes) -> Iterator[LayerResult]:
    """What became of each operator of the float model."""
    before = TensorGraph(order.model)
    found = read_source(made).model
    if found is None or not found.subgraphs:
        return
    after = TensorGraph(found)
    pairs, _ = pair_models(before, after)
    partners = {pair.reference_op: pair.candidate_op for pair in pairs if pair.reference_op is not None}
    kept = {step.index for step in find_layers(order.model, order.skip)}
    chosen = {step.index for step in find_layers(order.model, order.only)}
    for step in before.operators:
        if step.type in CONVERSIONS or not step.outputs:
            continue
        partner = partners.get(step.index)
        how, why = "float" if partner is None else _how(after, partner), ""
        if how == "float":
            asked = step.index not in kept and (not chosen or step.index in chosen)
            why = _why(before, step.index, order) if asked else "skipped"
        name = before.tensors[step.outputs[0]].name
        yield LayerResult(op=step.index, type=step.name, name=name, how=how, why=why)


def _how(graph: TensorGraph, index: int) -> str:
    """How an operator computes: by the type of its output, or of its weights."""
    step = graph.operators[index]
    out = graph.tensors[step.outputs[0]]
    if affine(out).is_quantized and out.dtype != "int32":
        return str(out.dtype)
    for given in step.inputs:
        if given < 0 or given not in graph.constants:
            continue
        stored = graph.tensors[graph.roots[given]]
        scaled = stored.quantization is not None and stored.quantization.scales and stored.dtype != "int32"
        if scaled or stored.dtype in ("float16", "int4", "int2"):
            return f"{stored.dtype} weights"
    return "float"


def _why(graph: TensorGraph, index: int, order: QuantizeTask) -> str:
    step = graph.operators[index]
    if not graph.tensors[step.outputs[0]].dtype.startswith("float"):
        return "computes no real numbers"
    has_weights = any(given in graph.constants for given in step.inputs if given >= 0)
    if not needs_samples(order.recipe) and not has_weights:
        return "no weights"
    return f"ai-edge-quantizer does not quantize {step.name} with this recipe"
