"""DEQUANTIZE followed by QUANTIZE

What it checks
    No result of a DEQUANTIZE goes straight into a QUANTIZE.

Why it matters
    The floats between them need four times the memory of the 8-bit values, and both operators cost
    time. The pair often marks an operator that could not be quantized.

What to do
    If scale and zero point are equal on both sides, remove both operators. If they differ, one QUANTIZE
    does the same.

Limits
    A float result that other operators also read is needed, and not reported.
"""

from outlive.model import Model, Operator, Subgraph, Tensor
from outlive.rules.api import Evidence, Iterator, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.wording import file_name, operator_name
from outlive.units import format_bytes, plural


@rule("M106", "requantize-pair", Severity.NOTE, since="0.1")
def requantize_pair(model: Model) -> Sightings:
    pairs = [(subgraph, *pair) for subgraph in model.subgraphs for pair in _pairs(subgraph)]
    if not pairs:
        return
    total = sum(floats.size_bytes or 0 for _, _, _, floats in pairs)
    equal = all(_equal_parameters(subgraph, first, second) for subgraph, first, second, _ in pairs)
    yield Sighting(
        where=file_name(model.path),
        evidence=tuple(Evidence(_describe(*pair), "graph") for pair in pairs[:5]),
        why=f"{plural(len(pairs), 'pair')} of DEQUANTIZE and QUANTIZE without an operator between them",
        remedies=(
            Remedy(
                "remove both operators" if equal else "replace each pair by a single QUANTIZE",
                # One rounding instead of two may differ in the last bit.
                Tag.SAME_RESULTS if equal else Tag.CHANGES_RESULTS,
                effect=f"saves up to {format_bytes(total)} of float tensors",
            ),
        ),
    )


def _describe(subgraph: Subgraph, first: Operator, second: Operator, floats: Tensor) -> str:
    same = _equal_parameters(subgraph, first, second)
    relation = "equal parameters" if same else "different parameters"
    names = f"{operator_name(first, subgraph.index)} and operator {second.index} ({second.name})"
    return f"{names}: {format_bytes(floats.size_bytes or 0)} of floats, {relation}"


def _equal_parameters(subgraph: Subgraph, first: Operator, second: Operator) -> bool:
    before, after = subgraph.tensors[first.inputs[0]], subgraph.tensors[second.outputs[0]]
    return _parameters(before) == _parameters(after)


def _parameters(tensor: Tensor) -> tuple[object, ...]:
    quantization = tensor.quantization
    return (tensor.dtype, *((quantization.scales, quantization.zero_points) if quantization else ()))


def _pairs(subgraph: Subgraph) -> Iterator[tuple[Operator, Operator, Tensor]]:
    count = len(subgraph.tensors)
    readers = subgraph.consumers()
    outputs = set(subgraph.output_indices)
    for first in subgraph.operators:
        ends = (*first.inputs, *first.outputs)
        if first.type != "DEQUANTIZE" or len(ends) != 2 or not all(0 <= end < count for end in ends):
            continue
        floats = first.outputs[0]
        users = readers.get(floats, [])
        if len(users) != 1 or floats in outputs or subgraph.tensors[first.inputs[0]].is_constant:
            continue
        second = subgraph.operators[users[0]]
        if second.type == "QUANTIZE" and len(second.outputs) == 1 and 0 <= second.outputs[0] < count:
            yield first, second, subgraph.tensors[floats]
