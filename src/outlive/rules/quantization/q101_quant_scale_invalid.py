"""a scale is not a number that the kernel can compute with

What it checks
    Scales of small integers that are not positive numbers, outputs that are too fine for their inputs,
    and outputs whose scale the kernel fixes.

Why it matters
    Kernels turn scales into multipliers, and abort where that does not work; XNNPACK refuses the model.

What to do
    Quantize the model again; look at calibration data that were empty, constant or not a number.

Limits
    Q106 reports operators that compute on without harm to the process.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.operator.prepared import operators_with
from outlive.rules.quantization.parameter_demands import scale_faults

RULE = rule("Q101", "quant-scale-invalid", Severity.ERROR, since="0.1", cause="quant-scale-invalid")(
    operators_with(scale_faults, "the scale was damaged, or calibration saw nothing to go by")
)
