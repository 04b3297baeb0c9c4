"""Unused tensors

What it checks
    Every tensor is read or written by an operator, is an input or output of a subgraph or signature, or
    holds the scales of another tensor.

Why it matters
    Each unused tensor costs about 100 bytes in the interpreter (12 bytes of a microcontroller's arena).
    Its constant, if not shared, costs its size in the file.

What to do
    Remove them. Converting the model again usually does.

Limits
    A custom operator that uses tensors it does not list is not known.
"""

from outlive.model import Model, Subgraph, Tensor
from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.wording import command, sight_file, tensor_name
from outlive.units import format_bytes, plural

_ENTRIES = "saves entries in the interpreter"


@rule("M103", "unused-tensors", Severity.NOTE, since="0.1")
def unused_tensors(model: Model) -> Sightings:
    unused = [
        tensor
        for subgraph in model.subgraphs
        for tensor in _unused(subgraph, model.signature_tensors(subgraph.index))
    ]
    if not unused:
        return
    dropped = {id(tensor) for tensor in unused}
    kept = {tensor.buffer_index for tensor in model.tensors() if id(tensor) not in dropped}
    own = {
        tensor.buffer_index: _constant_bytes(tensor) for tensor in unused if tensor.buffer_index not in kept
    }
    unused.sort(key=lambda tensor: -own.get(tensor.buffer_index, 0))
    facts = [f"{tensor_name(tensor)}: {_cost(own.get(tensor.buffer_index, 0))}" for tensor in unused[:5]]
    why = f"{plural(len(unused), 'tensor')} without a reference"
    effect = f"saves {format_bytes(sum(own.values()))} of constants" if any(own.values()) else _ENTRIES
    fix = command("outlive check --fix", model.path)
    remove = Remedy("remove the tensors", Tag.SAME_RESULTS, effect=effect, command=fix)
    again = Remedy("convert the model again", Tag.SAME_RESULTS)
    yield sight_file(model.path, facts, "operators and signatures", why, remove, again)


def _cost(size: int) -> str:
    return f"constant of {format_bytes(size)}" if size else "no constant"


def _constant_bytes(tensor: Tensor) -> int:
    return 0 if tensor.buffer is None else tensor.buffer.size_bytes


def _unused(subgraph: Subgraph, named: frozenset[int]) -> list[Tensor]:
    used = {*subgraph.input_indices, *subgraph.output_indices, *named}
    for operator in subgraph.operators:
        used.update(operator.inputs, operator.outputs, operator.intermediates)
    for tensor in subgraph.tensors:
        if tensor.quantization is not None:
            helpers = (tensor.quantization.scales_tensor, tensor.quantization.zero_points_tensor)
            used.update(index for index in helpers if index is not None)
    return [tensor for tensor in subgraph.tensors if tensor.index not in used]
