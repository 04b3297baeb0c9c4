"""The model is not quantized as expected

What it checks
    The types of activations, weights, inputs and outputs match the expectation (--expect int8,
    expect="int8"). `int8` and `int16` apply to the values that operators compute with, `int8-io`,
    `uint8-io` and `int16-io` also to inputs and outputs, `dynamic` and `float16` to weights.

Why it matters
    Converters silently fall back to float: if the representative dataset is empty or contains NaN, if
    an option is unknown, if an operator has no integer kernel. The model runs, and is as large and slow
    as before.

What to do
    Quantize again with a converter that fails instead of falling back. Replace the operators in the
    finding that have no integer kernel.

Limits
    Custom operators, QUANTIZE, DEQUANTIZE, CAST and weights of fewer than 1,024 numbers are exempt.
    Other rules check the parameters.
"""

from collections import Counter

from outlive.model import Model, Operator, Subgraph
from outlive.rules.api import Evidence, Fault, Iterator, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.quantization.expectation import (
    Expectation,
    has_expected,
    judged_operators,
    strange_ends,
    strange_operators,
    strange_weights,
)
from outlive.rules.wording import file_name, operator_name, operator_place, tensor_name
from outlive.units import plural

_SHOWN = 5
_AGAIN = Remedy(
    "quantize again with a representative dataset of real inputs, and read the converter's output",
    Tag.CHANGES_RESULTS,
)
_WEIGHTS = Remedy(
    "quantize the weights again, which needs no representative dataset",
    Tag.CHANGES_RESULTS,
    command="converter.optimizations = [tf.lite.Optimize.DEFAULT]",
)
_STRICT = Remedy(
    "make TensorFlow's converter fail instead of falling back to float",
    Tag.CHANGES_MODEL,
    command="converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]",
)
_ENDS = Remedy(
    "set the type of inputs and outputs too",
    Tag.CHANGES_MODEL,
    command="converter.inference_input_type = converter.inference_output_type = tf.{kind}",
)


@rule("Q201", "not-as-expected", Severity.ERROR, since="0.1")
def not_as_expected(model: Model, expectation: Expectation) -> Sightings:
    operators = list(strange_operators(model, expectation))
    weights = [(graph, step) for graph, step, _ in strange_weights(model, expectation)]
    ends = list(strange_ends(model, expectation))
    if not operators and not weights and not ends:
        return
    facts = [*_operators(model, operators), *_weights(model, expectation)]
    facts += [f'{word} "{tensor.name}" is {tensor.dtype}' for word, tensor in ends[:_SHOWN]]
    first = [(graph, step) for graph, step, _ in operators] or weights
    yield Sighting(
        where=f"{file_name(model.path)}, expected {expectation.word}",
        evidence=tuple(Evidence(fact, "types in the file") for fact in facts),
        why=_why(model, expectation, {kind for _, _, kind in operators}, bool(first)),
        remedies=_remedies(expectation, bool(first), bool(ends)),
        fault=Fault.FILE,
        op=operator_place(first[0][1], first[0][0].index) if len(first) == 1 else None,
    )


def _operators(model: Model, found: list[tuple[Subgraph, Operator, str]]) -> Iterator[str]:
    if not found:
        return
    total = sum(1 for _ in judged_operators(model))
    kinds = Counter(step.name for _, step, _ in found)
    named = ", ".join(f"{name} {count}" for name, count in kinds.most_common(_SHOWN))
    types = " and ".join(sorted({kind for _, _, kind in found}))
    verb = "computes" if len(found) == 1 else "compute"
    yield f"{len(found)} of {plural(total, 'operator')} {verb} with {types} ({named})"
    names = ", ".join(operator_name(step, graph.index) for graph, step, _ in found[:_SHOWN])
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    yield f"{names}{more}"


def _weights(model: Model, wanted: Expectation) -> Iterator[str]:
    found = list(strange_weights(model, wanted))
    for graph, step, tensor in found[:_SHOWN]:
        yield f"{operator_name(step, graph.index)} has weights of {tensor.dtype}: {tensor_name(tensor)}"
    if len(found) > _SHOWN:
        yield f"{len(found) - _SHOWN} more weights"


def _why(model: Model, wanted: Expectation, kinds: set[str], inside: bool) -> str:
    if kinds and not has_expected(model, wanted):
        if not all("float" in kind for kind in kinds):
            return "the model is quantized to another type"
        return "the converter ignored the request, or had no calibration data"
    if inside:
        return "the quantizer does not support these operators, or was configured to skip them"
    return "inputs and outputs keep their type by default"


def _remedies(wanted: Expectation, inside: bool, ends: bool) -> tuple[Remedy, ...]:
    found = [_AGAIN if wanted.values else _WEIGHTS] if inside else []
    if inside and wanted.values and "int16" not in wanted.values:
        found.append(_STRICT)
    if ends:
        kind = min(wanted.ends)
        found.append(Remedy(_ENDS.action, _ENDS.tag, command=_ENDS.command.replace("{kind}", kind)))
    return tuple(found)
