"""Wrong bias scale

What it checks
    The scale of each integer bias is the product of the scales of input and weights, channel by
    channel, within 2 %.

Why it matters
    Kernels add the bias to sums with the product's scale: with another scale the bias is too large or
    too small.

What to do
    Quantize the model again, and do not change scales by hand.

Limits
    The finding does not matter if the bias is 0. Kernels for uint8 refuse such a model.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.operator.prepared import operators_with
from outlive.rules.quantization.parameter_demands import bias_faults

RULE = rule("Q107", "bias-scale", Severity.WARNING, since="0.1")(
    operators_with(bias_faults, "the kernel adds the bias with the scale of the product")
)
