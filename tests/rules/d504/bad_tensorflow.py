"""An op of TensorFlow that follows a wrong index."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import death

TRACE = """Current thread 0x00007f (most recent call first):
  File "/venv/site-packages/tensorflow/python/ops/gen_ragged_ops.py", line 295 in ragged_tensor_to_tensor
  File "train.py", line 3 in <module>
"""


def fact(tmp_path: Path) -> Flight:
    return death(stage="call", op=None, frames=(), fault_address=0x7F00DEAD0000, fault_trace=TRACE)
