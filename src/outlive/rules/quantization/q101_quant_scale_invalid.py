"""Invalid quantization scale

What it checks
    Scales of quantized tensors are positive numbers, output scales are not too small for their inputs,
    and outputs have the scale that their kernel fixes.

Why it matters
    Kernels turn scales into multipliers and abort if that fails. XNNPACK refuses the model.

What to do
    Quantize the model again. Check for calibration data that was empty, constant or NaN.

Limits
    Q106 reports operators that ignore an invalid scale and keep running.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.operator.prepared import operators_with
from outlive.rules.quantization.parameter_demands import scale_faults

RULE = rule("Q101", "quant-scale-invalid", Severity.ERROR, since="0.1", cause="quant-scale-invalid")(
    operators_with(scale_faults, "the scale is damaged, or calibration had no data")
)
