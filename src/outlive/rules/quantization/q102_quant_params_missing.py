"""small integers lack the scale and zero point that their operator needs

What it checks
    int8, uint8 and int16 tensors without quantization where the kernel insists on it, or divides by the
    scale.

Why it matters
    A missing scale is taken for 0: kernels refuse, or abort when they divide by it.

What to do
    Quantize the model again, and let no tool drop the parameters.

Limits
    Operators that take small integers as plain numbers, as ADD and MUL do with int16, are left alone.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.operator.prepared import operators_with
from outlive.rules.quantization.parameter_demands import missing_parameters

RULE = rule("Q102", "quant-params-missing", Severity.ERROR, since="0.1", cause="quant-params-missing")(
    operators_with(missing_parameters, "without parameters the integers stand for nothing")
)
