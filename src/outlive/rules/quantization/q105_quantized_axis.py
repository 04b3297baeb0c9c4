"""a tensor is quantized along a dimension that it does not have

What it checks
    The dimension that the scales of a tensor lie along, against its shape.

Why it matters
    The runtime refuses to load the model.

What to do
    Quantize the model again.

Limits
    Tensors quantized by blocks or along several axes are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from outlive.finding import Evidence, Severity, Sighting
from outlive.model import Model
from outlive.rules.engine import rule
from outlive.rules.operator.scene import CONVERT_AGAIN
from outlive.rules.quantization.counting import axis_fault
from outlive.rules.telling import file_name, tensor_name


@rule("Q105", "quantized-axis", Severity.ERROR, since="0.1", cause="quant-params-missing")
def quantized_axis(model: Model) -> Iterator[Sighting]:
    """See the module."""
    found = ((tensor, fault) for tensor in model.tensors() if (fault := axis_fault(tensor)))
    first = list(islice(found, 5))
    if first:
        yield Sighting(
            where=f"{file_name(model.path)}, {tensor_name(first[0][0])}",
            evidence=tuple(
                Evidence(fact=f"{tensor_name(tensor)}: {fault}", source="file") for tensor, fault in first
            ),
            why="the runtime refuses to load a model with such a tensor",
            remedies=(CONVERT_AGAIN,),
        )
