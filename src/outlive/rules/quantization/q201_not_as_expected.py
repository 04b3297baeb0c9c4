"""the model is not quantized as it was to be

What it checks
    Given what was asked for (--expect int8, expect="int8"), the types of the values that operators compute
    with, of weights, and of inputs and outputs. `int8` and `int16` are about what operators compute with,
    `int8-io`, `uint8-io` and `int16-io` also about inputs and outputs, `dynamic` and `float16` about weights.

Why it matters
    Converters fall back to floats without an error: if the representative dataset is empty or holds NaN, if
    an option is not one they know, if an operator has no kernel for integers. The model runs, and is as
    large, as slow and as useless on the device as before.

What to do
    Quantize again, and let the converter fail instead of falling back. Look first at the operators named
    here: those without a kernel for integers have to be replaced.

Limits
    Custom operators, QUANTIZE, DEQUANTIZE and CAST are left alone, and so are weights of fewer than 1,024
    numbers. Whether the parameters are good is for other rules.
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
    "quantize again with a representative dataset of real inputs, and look at what the converter says",
    Tag.CHANGES_RESULTS,
)
_WEIGHTS = Remedy(
    "quantize again: weights alone need no representative dataset",
    Tag.CHANGES_RESULTS,
    command="converter.optimizations = [tf.lite.Optimize.DEFAULT]",
)
_STRICT = Remedy(
    "let TensorFlow's converter fail instead of falling back to floats",
    Tag.CHANGES_MODEL,
    command="converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]",
)
_ENDS = Remedy(
    "ask for the type of inputs and outputs as well",
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
    yield f"{len(found)} of {plural(total, 'operator')} {verb} with {types}: {named}"
    names = ", ".join(operator_name(step, graph.index) for graph, step, _ in found[:_SHOWN])
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    yield f"they are {names}{more}" if len(found) > 1 else f"it is {names}"


def _weights(model: Model, wanted: Expectation) -> Iterator[str]:
    found = list(strange_weights(model, wanted))
    for graph, step, tensor in found[:_SHOWN]:
        yield f"{operator_name(step, graph.index)} has weights of {tensor.dtype}: {tensor_name(tensor)}"
    if len(found) > _SHOWN:
        yield f"{len(found) - _SHOWN} more weights are like that"


def _why(model: Model, wanted: Expectation, kinds: set[str], inside: bool) -> str:
    if kinds and not has_expected(model, wanted):
        if not all("float" in kind for kind in kinds):
            return "it was quantized to another type than the one asked for"
        return "nothing was quantized: the request was not understood, or there was nothing to calibrate with"
    if inside:
        return "the quantizer has nothing for these operators, or was told to leave them out"
    return "inputs and outputs keep their type unless another one is asked for"


def _remedies(wanted: Expectation, inside: bool, ends: bool) -> tuple[Remedy, ...]:
    found = [_AGAIN if wanted.values else _WEIGHTS] if inside else []
    if inside and wanted.values and "int16" not in wanted.values:
        found.append(_STRICT)
    if ends:
        kind = min(wanted.ends)
        found.append(Remedy(_ENDS.action, _ENDS.tag, command=_ENDS.command.replace("{kind}", kind)))
    return tuple(found)
