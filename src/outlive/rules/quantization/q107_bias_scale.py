"""a bias is not scaled as input times weights

What it checks
    The scale of each integer bias against the product of the scales of input and weights, channel by
    channel, to 2 %.

Why it matters
    Kernels add the bias to sums that are scaled like the product: with another scale it is too large or
    too small.

What to do
    Quantize the model again, and change no scale by hand.

Limits
    It does no harm where the bias is 0. Kernels for uint8 refuse such a model.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.operator.prepared import operators_with
from outlive.rules.quantization.parameter_demands import bias_faults

RULE = rule("Q107", "bias-scale", Severity.WARNING, since="0.1")(
    operators_with(
        bias_faults, "it hurts unless the bias is zero: it is added as if it had the scale of the product"
    )
)
