"""Quantization scale is not a positive number

What it checks
    No scale is negative, infinite or NaN where the kernel computes anyway.

Why it matters
    The model runs. Results that depend on this tensor are meaningless.

What to do
    Quantize the model again. Check for calibration data that was empty or NaN.

Limits
    The finding does not matter if nothing depends on the tensor. Q101 reports scales that make the
    runtime refuse or crash.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.operator.prepared import operators_with
from outlive.rules.quantization.parameter_demands import odd_scales

RULE = rule("Q106", "odd-scale", Severity.WARNING, since="0.1", cause="quant-scale-invalid")(
    operators_with(odd_scales, "results that depend on this tensor are meaningless")
)
