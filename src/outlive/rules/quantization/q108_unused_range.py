"""Weights use little of their integer range

What it checks
    Constant int8 weights with one scale use at least a sixteenth of the int8 range.

Why it matters
    The values have fewer steps than the type allows: the model is less accurate than it could be.

What to do
    Quantize per channel, or calibrate the weights by their own range.

Limits
    The rule reads up to a million weights. Only a comparison shows whether accuracy suffers.
"""

from outlive.model import Model, Tensor
from outlive.rules.api import Evidence, Severity, Sighting, Sightings, rule
from outlive.rules.operator.prepared import CONVERT_AGAIN
from outlive.rules.wording import file_name, tensor_name

_LEAST_SHARE = 1 / 16
_MOST_VALUES = 1_000_000
_FEWEST_VALUES = 64


@rule("Q108", "unused-range", Severity.NOTE, since="0.1")
def unused_range(model: Model) -> Sightings:
    found = [(tensor, used) for tensor in model.tensors() if 0 < (used := _used(tensor)) < 256 * _LEAST_SHARE]
    if found:
        yield Sighting(
            where=file_name(model.path),
            evidence=tuple(
                Evidence(f"{tensor_name(tensor)} uses {used} of 256 steps", "weights")
                for tensor, used in found[:5]
            ),
            why="the scale is coarser than these weights need",
            remedies=(CONVERT_AGAIN,),
        )


def _used(tensor: Tensor) -> int:
    """How many steps there are from the least to the greatest value; 0 if that says nothing."""
    found, buffer = tensor.quantization, tensor.buffer
    if tensor.dtype != "int8" or found is None or found.kind != "per-tensor" or buffer is None:
        return 0
    if not _FEWEST_VALUES <= buffer.size_bytes <= _MOST_VALUES or tensor.sparsity is not None:
        return 0
    values = buffer.part(0, buffer.size_bytes).cast("b")
    low, high = min(values), max(values)
    return high - low + 1 if low < high else 0
