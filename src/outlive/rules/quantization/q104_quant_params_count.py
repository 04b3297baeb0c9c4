"""Wrong number of quantization scales

What it checks
    A tensor has as many zero points as scales, and one scale, or one for each entry of the quantized
    dimension.

Why it matters
    The runtime refuses to load the model.

What to do
    Quantize the model again.

Limits
    Tensors quantized by blocks or along several axes keep their scales elsewhere, and are not checked.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.quantization.parameter_counts import count_fault, refused_tensors

RULE = rule("Q104", "quant-params-count", Severity.ERROR, since="0.1", cause="quant-params-missing")(
    refused_tensors(count_fault)
)
