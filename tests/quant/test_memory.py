"""The caller's memory depends neither on the number of samples nor on that of rounds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.quant.networks import dense_float, weights

_PROGRAM = """
import json, sys, threading, numpy as np, psutil, outlive
model, count, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
process = psutil.Process()
most = 0
def samples():
    chance = np.random.default_rng(0)
    for _ in range(count):
        yield chance.random((1, 256), dtype=np.float32)
def look(*_):
    global most
    most = max(most, process.memory_info().rss)
held = []
for _ in range(rounds):
    made = outlive.quantize(model, "static-int8", samples)
    drift = outlive.compare(model, made.model, samples, tell=look)
    assert drift.samples == count
    held.append(process.memory_info().rss)
print(json.dumps({"most": most, "held": held, "threads": threading.active_count()}))
"""


def run(model: Path, count: int, rounds: int) -> dict[str, list[int]]:
    command = [sys.executable, "-c", _PROGRAM, str(model), str(count), str(rounds)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=240)
    found: dict[str, list[int]] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_many_samples_take_no_more_than_few(tmp_path: Path) -> None:
    model = tmp_path / "m.tflite"
    model.write_bytes(dense_float(weights(4, 256)))
    few, many = run(model, 10, 1)["most"], run(model, 500, 1)["most"]
    assert isinstance(few, int)
    assert isinstance(many, int)
    assert many < 1.05 * few


def test_many_rounds_leave_nothing_behind(tmp_path: Path) -> None:
    model = tmp_path / "m.tflite"
    model.write_bytes(dense_float(weights(4, 256)))
    found = run(model, 5, 8)
    assert found["held"][-1] - found["held"][1] < 5_000_000
    assert found["threads"] == 1
