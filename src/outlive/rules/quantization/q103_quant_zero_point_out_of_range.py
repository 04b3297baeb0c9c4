"""a zero point is not a number of its tensor's type

What it checks
    Zero points against the range of the type, against 0 for int16, and against the one value that
    SOFTMAX, LOG_SOFTMAX and L2_NORMALIZATION give.

Why it matters
    Kernels and XNNPACK refuse such tensors, or compute with a number that has been cut.

What to do
    Quantize the model again.

Limits
    Operators that do not compute with zero points are left alone.
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
)(operators_with(zero_point_faults, "the zero point was damaged, or belongs to another type"))
