"""TensorFlow's QuantizationDebugger outside of the caller, with the judge that knows the rules."""

from __future__ import annotations

from outlive.quant.debugging import Debugger, QuantizationDebugOptions
from outlive.verbs.judging import JUDGE

__all__ = ["QuantizationDebugOptions", "QuantizationDebugger"]


class QuantizationDebugger(Debugger):
    """TensorFlow's QuantizationDebugger, call for call, in processes that are thrown away.

    With a converter it costs TensorFlow's conversion, in a worker. With a debug model, with a float and a
    quantized model, or with a float model alone (which is quantized here) it needs no TensorFlow.
    """

    _judge = JUDGE
