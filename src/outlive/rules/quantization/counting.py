"""Parameters that the runtime refuses when it loads a file.

Source: LiteRT, tflite/core/interpreter_builder.cc (ParseQuantization).
"""

from __future__ import annotations

from outlive.model import Tensor


def count_fault(tensor: Tensor) -> str:
    """What is wrong with how many parameters there are, in words; empty if nothing is."""
    found = tensor.quantization
    if found is None or found.kind not in ("per-tensor", "per-channel") or not found.scales:
        return ""
    scales, points = len(found.scales), len(found.zero_points)
    if scales != points:
        return f"{scales} scales and {points} zero points"
    if axis_fault(tensor):
        return ""
    sides = tensor.shape[found.axis] if tensor.shape else 1
    if scales != 1 and tensor.shape and scales != sides:
        return f"{scales} scales along dimension {found.axis}, which has {sides}"
    return ""


def axis_fault(tensor: Tensor) -> str:
    """What is wrong with the axis of the scales, in words; empty if nothing is."""
    found = tensor.quantization
    if found is None or found.kind not in ("per-tensor", "per-channel") or not found.scales:
        return ""
    if found.axis < 0 or (tensor.shape and found.axis >= len(tensor.shape)):
        return f"its scales lie along dimension {found.axis}, it has {len(tensor.shape)} dimensions"
    return ""
