"""a tensor is quantized along a dimension that it does not have

What it checks
    The dimension that the scales of a tensor lie along, against its shape.

Why it matters
    The runtime refuses to load the model.

What to do
    Quantize the model again.

Limits
    Tensors quantized by blocks or along several axes are not looked at. A scalar, or a tensor whose shape the
    file leaves open, may name any dimension that is not negative.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Severity, Sighting
from outlive.model import Model
from outlive.rules.engine import rule
from outlive.rules.quantization.counting import axis_fault, refused_tensors


@rule("Q105", "quantized-axis", Severity.ERROR, since="0.1", cause="quant-params-missing")
def quantized_axis(model: Model) -> Iterator[Sighting]:
    """See the module."""
    yield from refused_tensors(model, axis_fault)
