"""Parameters that the runtime refuses when it loads a file.

Source: LiteRT, tflite/core/interpreter_builder.cc (ParseQuantization).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from outlive.finding import Evidence, Sighting
from outlive.model import Model, Tensor
from outlive.rules.operator.prepared import CONVERT_AGAIN
from outlive.rules.wording import file_name, tensor_name

_MOST_SHOWN = 5


def refused_tensors(fault_of: Callable[[Tensor], str]) -> Callable[[Model], Iterator[Sighting]]:
    """A rule's generator: one sighting of all tensors with a fault that keeps the model from being loaded."""

    def sight(model: Model) -> Iterator[Sighting]:
        found = ((tensor, fault) for tensor in model.tensors() if (fault := fault_of(tensor)))
        first = list(islice(found, _MOST_SHOWN))
        if first:
            yield Sighting(
                where=f"{file_name(model.path)}, {tensor_name(first[0][0])}",
                evidence=tuple(
                    Evidence(f"{tensor_name(tensor)}: {fault}", "file") for tensor, fault in first
                ),
                why="the runtime refuses to load the model",
                remedies=(CONVERT_AGAIN,),
            )

    return sight


def count_fault(tensor: Tensor) -> str:
    """What is wrong with how many parameters there are, in words; empty if nothing is."""
    found = tensor.quantization
    if found is None or found.kind not in ("per-tensor", "per-channel") or not found.scales:
        return ""
    scales, points = len(found.scales), len(found.zero_points)
    if scales != points:
        return f"{scales} scales and {points} zero points"
    if axis_fault(tensor):
        return ""
    sides = tensor.shape[found.axis] if tensor.shape else 1
    if scales != 1 and tensor.shape and scales != sides:
        return f"{scales} scales for dimension {found.axis} of size {sides}"
    return ""


def axis_fault(tensor: Tensor) -> str:
    """What is wrong with the axis of the scales, in words; empty if nothing is."""
    found = tensor.quantization
    if found is None or found.kind not in ("per-tensor", "per-channel") or not found.scales:
        return ""
    if found.axis < 0 or (tensor.shape and found.axis >= len(tensor.shape)):
        return f"dimension {found.axis} of {len(tensor.shape)}"
    return ""
