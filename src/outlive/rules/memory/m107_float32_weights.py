"""Weights are 32-bit floats

What it checks
    Float32 constants of at least 1 KiB that operators read take less than 4 KiB, or less than a tenth
    of the file.

Why it matters
    Most models lose little accuracy with 16-bit weights, and often little with 8-bit weights. The file
    and the packed weights in memory shrink.

What to do
    Quantize: float16 halves the weights, 8-bit integers quarter them. Measure the loss of accuracy.

Limits
    The sizes are computed. The loss is not: it depends on the model and its data. Some accelerators
    unpack 16-bit weights, and then memory does not shrink.
"""

from outlive.model import Model, Tensor
from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.wording import sight_file, tensor_name
from outlive.units import format_bytes, plural

_MIN_TENSOR_BYTES = 1024
_MIN_TOTAL_BYTES = 4096


@rule("M107", "float32-weights", Severity.NOTE, since="0.1")
def float32_weights(model: Model) -> Sightings:
    weights = list(_weights(model).values())
    total = sum(tensor.stored_bytes for tensor in weights)
    if total < max(_MIN_TOTAL_BYTES, model.file_bytes // 10):
        return
    weights.sort(key=lambda tensor: -tensor.stored_bytes)
    facts = [f"{format_bytes(total)} in {plural(len(weights), 'constant')}"]
    facts += [f"{tensor_name(tensor)}: {format_bytes(tensor.stored_bytes)}" for tensor in weights[:3]]
    why = f"float32 weights are {100 * total / model.file_bytes:.0f} % of the file"
    half, quarter = format_bytes(total // 2), format_bytes(total * 3 // 4)
    floats = Remedy(
        "quantize the weights to float16", Tag.CHANGES_RESULTS, effect=f"saves {half} of the file"
    )
    integers = Remedy(
        "quantize the weights to 8-bit integers",
        Tag.CHANGES_RESULTS,
        effect=f"saves about {quarter} of the file",
    )
    yield sight_file(model.path, facts, "constants", why, floats, integers)


def _weights(model: Model) -> dict[int, Tensor]:
    """Float constants that operators read, one for each buffer."""
    found: dict[int, Tensor] = {}
    for subgraph in model.subgraphs:
        read = {index for operator in subgraph.operators for index in operator.inputs}
        for tensor in subgraph.tensors:
            if (
                tensor.index in read
                and tensor.dtype == "float32"
                and tensor.stored_bytes >= _MIN_TENSOR_BYTES
            ):
                found.setdefault(tensor.buffer_index, tensor)
    return found
