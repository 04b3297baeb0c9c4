"""Zero point out of range

What it checks
    Zero points are in the range of their type, are 0 for int16, and have the fixed value for SOFTMAX,
    LOG_SOFTMAX and L2_NORMALIZATION.

Why it matters
    Kernels and XNNPACK refuse the tensor, or compute with a truncated number.

What to do
    Quantize the model again.

Limits
    Operators that do not use zero points are exempt.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.operator.prepared import operators_with
from outlive.rules.quantization.parameter_demands import zero_point_faults

RULE = rule(
    "Q103",
    "quant-zero-point-out-of-range",
    Severity.ERROR,
    since="0.1",
    cause="quant-zero-point-out-of-range",
)(operators_with(zero_point_faults, "the zero point is damaged, or belongs to another type"))
