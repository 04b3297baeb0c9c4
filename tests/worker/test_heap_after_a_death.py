"""The heap that workers are forked with: looking into a death must not change what the next model takes."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

import outlive
from outlive.errors import ModelDied
from outlive.worker.measuring import measure
from tools.canvas import Canvas


def tower() -> bytes:
    """Products whose operands need more room one after the other, from 0.3 to 0.9 MB."""
    canvas = Canvas("int8")
    image = x = canvas.activation([1, 48, 48, 128])
    for channels in (192, 256, 320, 384, 16):
        x = canvas.conv(x, channels)
    return canvas.finish([image], [x])


def test_the_next_model_takes_no_more_after_a_death(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(tower())
    before = measure(path, accelerator="builtin").peak_bytes
    assert before is not None
    interpreter = outlive.Interpreter(str(path))
    interpreter.allocate_tensors()
    os.kill(interpreter.pid, signal.SIGSEGV)
    with pytest.raises(ModelDied):
        interpreter.invoke()
    after = [measure(path, accelerator="builtin").peak_bytes or 0 for _ in range(3)]
    assert max(after) <= before + 150_000
