"""a scale is no positive number

What it checks
    Scales that are negative, infinite or not a number, where the kernel computes on all the same.

Why it matters
    The model runs; where its results depend on that tensor they mean nothing.

What to do
    Quantize the model again; look at calibration data that were empty or not a number.

Limits
    It does no harm if nothing depends on the tensor. Where the runtime would refuse or die, Q101 says so.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.operator.prepared import operators_with
from outlive.rules.quantization.parameter_demands import odd_scales

RULE = rule("Q106", "odd-scale", Severity.WARNING, since="0.1", cause="quant-scale-invalid")(
    operators_with(odd_scales, "it hurts if the results depend on this tensor")
)
