"""Beside TensorFlow's QuantizationDebugger on MobileNetV2: the same ranking, sooner, in a flat caller.

python benchmarks/quant_debugger_against_tensorflow.py          ten rounds of each, about five minutes
python benchmarks/quant_debugger_against_tensorflow.py --quick  two rounds, no results written

TensorFlow's round is converter to statistics, as its guide does it; ours is quantize and compare from the
float .tflite file, without TensorFlow. Both get the same samples. Growth is that of the calling process.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from side_by_side import Claim, write_results

PACKAGES = ("outlive", "ai-edge-litert", "ai-edge-quantizer", "tensorflow-cpu", "numpy")
SAMPLES, ROUNDS = 20, 10
_COMMON = """
import json, os, sys, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np, psutil
folder, rounds, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
process, held, seconds = psutil.Process(), [], []

def samples():
    chance = np.random.default_rng(0)
    for _ in range(count):
        yield [chance.random((1, 224, 224, 3), dtype=np.float32) * 2 - 1]
"""
_MAKE = (
    _COMMON
    + """
import tensorflow as tf
tf.keras.utils.set_random_seed(0)
model = tf.keras.applications.MobileNetV2(weights=None)
# Untrained, every layer would shrink what it gets until nothing is left to quantize: let them normalise once.
for layer in model.layers:
    if isinstance(layer, tf.keras.layers.BatchNormalization):
        layer.momentum = 0.0
model(np.concatenate([sample for [sample] in samples()]), training=True)
model.save(folder + "/model.keras")
open(folder + "/float.tflite", "wb").write(tf.lite.TFLiteConverter.from_keras_model(model).convert())
"""
)
_TENSORFLOW = (
    _COMMON
    + """
import csv, io
import tensorflow as tf
model = tf.keras.models.load_model(folder + "/model.keras")
for _ in range(rounds):
    start = time.perf_counter()
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = samples
    debugger = tf.lite.experimental.QuantizationDebugger(converter=converter, debug_dataset=samples)
    debugger.run()
    seconds.append(time.perf_counter() - start)
    held.append(process.memory_info().rss)
text = io.StringIO()
debugger.layer_statistics_dump(text)
text.seek(0)
layers = {
    row["tensor_name"]: float(row["mean_squared_error"]) ** 0.5 / float(row["scale"])
    for row in csv.DictReader(text)
}
print(json.dumps({"held": held, "seconds": seconds, "layers": layers}))
"""
)
_OURS = (
    _COMMON
    + """
import outlive
model = folder + "/float.tflite"
for _ in range(rounds):
    start = time.perf_counter()
    made = outlive.quantize(model, "static-int8", samples)
    drift = outlive.compare(model, made.model, samples)
    seconds.append(time.perf_counter() - start)
    held.append(process.memory_info().rss)
layers = {
    row.name: row.born_here.rmse_over_scale
    for row in drift.tensors
    if row.born_here is not None and row.born_here.rmse_over_scale is not None
}
print(json.dumps({"held": held, "seconds": seconds, "layers": layers}))
"""
)


def run(program: str, folder: str, rounds: int) -> Any:
    """What a program says in its last line; it gets the folder, the rounds and the number of samples."""
    command = [sys.executable, "-c", program, folder, str(rounds), str(SAMPLES)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    lines = done.stdout.splitlines()
    return json.loads(lines[-1]) if lines and lines[-1].startswith("{") else None


def rank_correlation(left: dict[str, float], right: dict[str, float]) -> tuple[float, int]:
    """Spearman's, over the layers that both have; and how many those are."""
    both = sorted(set(left) & set(right))
    ranks = []
    for side in (left, right):
        order = sorted(both, key=lambda name: side[name])
        ranks.append([order.index(name) for name in both])
    return statistics.correlation(ranks[0], ranks[1]), len(both)


def main() -> int:
    """Measure, print, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    rounds = 2 if quick else ROUNDS
    with tempfile.TemporaryDirectory() as folder:
        run(_MAKE, folder, 0)
        ours, theirs = run(_OURS, folder, rounds), run(_TENSORFLOW, folder, rounds)
        sizes = {path.name: path.stat().st_size for path in Path(folder).iterdir()}
    correlation, count = rank_correlation(ours["layers"], theirs["layers"])
    faster = statistics.median(theirs["seconds"]) / statistics.median(ours["seconds"])
    both = {"ours": ours, "theirs": theirs}
    # The first round loads what is needed: growth is what comes after it.
    grown = {name: (one["held"][-1] - one["held"][1]) / 1e6 for name, one in both.items()}
    claims = [
        Claim(text=f"rank correlation ({count} layers)", ratio=correlation, bound=0.9, at_least=True),
        Claim(text="rounds are faster by", ratio=faster, bound=3, at_least=True),
        Claim(text="the caller grows by MB", ratio=grown["ours"], bound=5),
    ]
    for claim in claims:
        print(claim)
    print(f"TensorFlow's caller grows by {grown['theirs']:.0f} MB from its second round on")
    if not quick:
        body = {"ours": ours, "tensorflow": theirs, "samples": SAMPLES, "file_bytes": sizes}
        print(write_results("quant_debugger_against_tensorflow", PACKAGES, claims, body))
    return 0 if all(claim.holds for claim in claims) else 1


if __name__ == "__main__":
    raise SystemExit(main())
