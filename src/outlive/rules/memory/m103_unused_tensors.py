"""the model describes tensors that nothing uses

What it checks
    Tensors that no operator reads or writes, that are no input or output of a subgraph or signature, and
    that hold no scales of another tensor.

Why it matters
    Each costs some 100 bytes of the interpreter's structures (12 bytes of a microcontroller's arena),
    and its constant, if it has one that no other tensor shares, costs its size in the file.

What to do
    Remove them; converting the model again usually does.

Limits
    Custom operators name the tensors they use like all others; one that reaches further is not known.
"""

from outlive.model import Model, Subgraph, Tensor
from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.wording import sight_file, tensor_name
from outlive.units import format_bytes, plural

_ENTRIES = "saves entries in the interpreter's tables"


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
    why = f"no operator, input, output or signature refers to {plural(len(unused), 'tensor')}"
    effect = f"saves {format_bytes(sum(own.values()))} of constants" if any(own.values()) else _ENTRIES
    again = Remedy("convert the model again", Tag.SAME_RESULTS, effect=effect)
    yield sight_file(model.path, facts, "operators and signatures", why, again)


def _cost(size: int) -> str:
    return f"constant of {format_bytes(size)}" if size else "no constant of its own"


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
