"""Real numbers and the integers that stand for them, by a model's own scale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from outlive.model import Tensor

if TYPE_CHECKING:
    pass


def quantize_input(details: Mapping[str, Any] | Tensor, values: Any) -> Any:
    """Real numbers as the integers a quantized input takes, with the model's own scale and zero point.

    `details` is a row of `get_input_details()`, or a tensor of a model that was read. For an input that is
    not quantized, the values in its type. ValueError for NaN.
    """
    from outlive.interpreter.affine import quantize
    from outlive.planning.input_values import affine_parameters

    return quantize(affine_parameters(details), values)


def dequantize_output(details: Mapping[str, Any] | Tensor, values: Any) -> Any:
    """The real numbers that values of a quantized output stand for; `details` as for `quantize_input`."""
    from outlive.interpreter.affine import dequantize
    from outlive.planning.input_values import affine_parameters

    return dequantize(affine_parameters(details), values)
