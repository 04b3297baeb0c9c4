"""Ops that only TensorFlow has."""

from __future__ import annotations

from pathlib import Path

from outlive.interpreter.judge import Call

TEXT = """<unknown>:0: error: failed while converting: 'main':
Some ops are not supported by the native TFLite runtime, you can enable TF kernels fallback using TF Select.
TF Select ops: Erf, StridedSliceGrad
Flex ops: Erf, StridedSliceGrad
"""


def fact(tmp_path: Path) -> Call:
    return Call(problem="converter-refused", text=TEXT)
