"""a tensor has the wrong number of scales

What it checks
    That there are as many zero points as scales, and one scale, or one for each entry of the quantized
    dimension.

Why it matters
    The runtime refuses to load the model.

What to do
    Quantize the model again.

Limits
    Tensors quantized by blocks or along several axes keep their scales elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Severity, Sighting
from outlive.model import Model
from outlive.rules.engine import rule
from outlive.rules.quantization.counting import count_fault, refused_tensors


@rule("Q104", "quant-params-count", Severity.ERROR, since="0.1", cause="quant-params-missing")
def quant_params_count(model: Model) -> Iterator[Sighting]:
    """See the module."""
    yield from refused_tensors(model, count_fault)
