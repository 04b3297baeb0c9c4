"""A rank that TensorFlow takes for granted."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import death

TRACE = """Fatal Python error: Aborted

Current thread 0x00007f (most recent call first):
  File "/venv/lib/python3.11/site-packages/tensorflow/python/ops/gen_nn_ops.py", line 5 in fused_pad_conv2d
  File "/venv/lib/python3.11/site-packages/tensorflow/python/util/tf_export.py", line 377 in wrapper
  File "/home/ann/train.py", line 12 in step

Thread 0x00007e (most recent call first):
  File "/home/ann/other.py", line 1 in wait
"""


def fact(tmp_path: Path) -> Flight:
    return death(
        "SIGABRT",
        stage="call",
        op=None,
        frames=("raise", "absl::log_internal::LogMessage::Flush", "tensorflow::TensorShapeBase<>::dim_size"),
        stderr_tail="F0000 00:00:17.01 1 tensor_shape.cc:362] Check failed: d < dims() (1 vs. 0) \n",
        fault_trace=TRACE,
    )
