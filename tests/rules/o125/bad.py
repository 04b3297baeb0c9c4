"""An op that has no counterpart."""

from __future__ import annotations

from pathlib import Path

from outlive.interpreter.judge import Call

TEXT = """train.py:283:1: error: 'tf.Svd' op is neither a custom op nor a flex op
train.py:283:1: note: Error code: ERROR_NEEDS_CUSTOM_OPS
<unknown>:0: error: failed while converting: 'main':
Some ops in the model are custom ops, See instructions
Custom ops: Svd
Details:
\ttf.Svd(tensor<3x3xf32>) -> (tensor<3xf32>)
"""


def fact(tmp_path: Path) -> Call:
    return Call(problem="converter-refused", text=TEXT)
