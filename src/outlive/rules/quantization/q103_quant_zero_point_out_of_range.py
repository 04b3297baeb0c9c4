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

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Severity, Sighting
from outlive.model import Model
from outlive.rules.engine import rule
from outlive.rules.operator.scene import sight_each
from outlive.rules.quantization.demands import zero_point_faults


@rule(
    "Q103",
    "quant-zero-point-out-of-range",
    Severity.ERROR,
    since="0.1",
    cause="quant-zero-point-out-of-range",
)
def quant_zero_point_out_of_range(model: Model) -> Iterator[Sighting]:
    """See the module."""
    yield from sight_each(model, zero_point_faults, "the zero point was damaged, or belongs to another type")
