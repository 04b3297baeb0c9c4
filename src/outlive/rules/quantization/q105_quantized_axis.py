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

from outlive.rules.api import Severity, rule
from outlive.rules.quantization.parameter_counts import axis_fault, refused_tensors

RULE = rule("Q105", "quantized-axis", Severity.ERROR, since="0.1", cause="quant-params-missing")(
    refused_tensors(axis_fault)
)
