"""Invalid quantized dimension

What it checks
    The quantized dimension of a tensor exists in its shape.

Why it matters
    The runtime refuses to load the model.

What to do
    Quantize the model again.

Limits
    Tensors quantized by blocks or along several axes are not checked. A scalar, or a tensor with a
    dynamic shape, may name any dimension that is not negative.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.quantization.parameter_counts import axis_fault, refused_tensors

RULE = rule("Q105", "quantized-axis", Severity.ERROR, since="0.1", cause="quant-params-missing")(
    refused_tensors(axis_fault)
)
