"""Missing quantization parameters

What it checks
    int8, uint8 and int16 tensors have a scale and zero point where the kernel needs them.

Why it matters
    Kernels read a missing scale as 0. They refuse the model, or abort when they divide by it.

What to do
    Quantize the model again, and check the tools that process it afterwards.

Limits
    Operators that take small integers as plain numbers, such as ADD and MUL with int16, are exempt.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.operator.prepared import operators_with
from outlive.rules.quantization.parameter_demands import missing_parameters

RULE = rule("Q102", "quant-params-missing", Severity.ERROR, since="0.1", cause="quant-params-missing")(
    operators_with(missing_parameters, "without scale and zero point, the integers have no meaning")
)
