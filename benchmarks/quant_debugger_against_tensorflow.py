"""Beside TensorFlow's QuantizationDebugger on MobileNetV2: the same ranking, sooner, in a flat caller.

python benchmarks/quant_debugger_against_tensorflow.py          ten rounds of each, about five minutes
python benchmarks/quant_debugger_against_tensorflow.py --quick  two rounds, no results written

TensorFlow's round is converter to statistics, as its guide does it; ours is quantize and compare from the
float .tflite file, without TensorFlow. Both get the same samples. They take turns, a round each, so that a
slow moment of the machine hits both; the first round of each, which loads what is needed, counts for neither.
Growth is that of the calling process.
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
folder, count = sys.argv[1], int(sys.argv[2])
process = psutil.Process()

def samples():
    chance = np.random.default_rng(0)
    for _ in range(count):
        yield [chance.random((1, 224, 224, 3), dtype=np.float32) * 2 - 1]

def rounds(one):
    # A round for each line that comes; at the end, what the last one found.
    found = None
    for _ in sys.stdin:
        start = time.perf_counter()
        found = one()
        print(json.dumps([time.perf_counter() - start, process.memory_info().rss]), flush=True)
    print(json.dumps(found()), flush=True)
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

def one():
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = samples
    debugger = tf.lite.experimental.QuantizationDebugger(converter=converter, debug_dataset=samples)
    debugger.run()
    return lambda: layers(debugger)

def layers(debugger):
    text = io.StringIO()
    debugger.layer_statistics_dump(text)
    text.seek(0)
    rows = list(csv.DictReader(text))
    return {row["tensor_name"]: float(row["mean_squared_error"]) ** 0.5 / float(row["scale"]) for row in rows}

rounds(one)
"""
)
_OURS = (
    _COMMON
    + """
import outlive
model = folder + "/float.tflite"

def one():
    made = outlive.quantize(model, "static-int8", samples)
    drift = outlive.compare(model, made.model, samples)
    return lambda: {
        row.name: row.born_here.rmse_over_scale
        for row in drift.tensors
        if row.born_here is not None and row.born_here.rmse_over_scale is not None
    }

rounds(one)
"""
)


class Contestant:
    """A program that does a round for each line, and says at its end what it found."""

    def __init__(self, program: str, folder: str) -> None:
        """Start it; it imports while nobody is timed."""
        command = [sys.executable, "-c", program, folder, str(SAMPLES)]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        )
        self.seconds: list[float] = []
        self.held: list[int] = []
        self.layers: dict[str, float] = {}

    def round(self) -> None:
        """One more round; `RuntimeError` if the program ended."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        taken, held = self._answer()
        self.seconds.append(taken)
        self.held.append(held)

    def finish(self) -> None:
        """Take what the last round found, and end the program."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self.layers = self._answer()
        self._process.wait()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line[:1] in "[{":  # TensorFlow says a few things of its own
                return json.loads(line)
        raise RuntimeError(f"a contestant ended with {self._process.wait()}")

    @property
    def grown_mb(self) -> float:
        """What the caller grew by; the first round loads what is needed, and does not count."""
        return (self.held[-1] - self.held[1]) / 1e6

    def told(self) -> dict[str, Any]:
        """All of it, for the results."""
        return {"held": self.held, "seconds": self.seconds, "layers": self.layers}


def make_models(folder: str) -> None:
    """The Keras model and the float .tflite file."""
    subprocess.run([sys.executable, "-c", _MAKE, folder, str(SAMPLES)], capture_output=True, check=True)


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
    with tempfile.TemporaryDirectory() as folder:
        make_models(folder)
        ours, theirs = Contestant(_OURS, folder), Contestant(_TENSORFLOW, folder)
        for number in range((2 if quick else ROUNDS) + 1):
            for one in (ours, theirs) if number % 2 else (theirs, ours):
                one.round()
            print(
                f"round {number}: {ours.seconds[-1]:.2f} s, TensorFlow {theirs.seconds[-1]:.2f} s", flush=True
            )
        ours.finish()
        theirs.finish()
        sizes = {path.name: path.stat().st_size for path in Path(folder).iterdir()}
    correlation, count = rank_correlation(ours.layers, theirs.layers)
    faster = statistics.median(theirs.seconds[1:]) / statistics.median(ours.seconds[1:])
    claims = [
        Claim(text=f"rank correlation ({count} layers)", ratio=correlation, bound=0.9, at_least=True),
        Claim(text="rounds are faster by", ratio=faster, bound=3, at_least=True),
        Claim(text="the caller grows by MB", ratio=ours.grown_mb, bound=5),
    ]
    for claim in claims:
        print(claim)
    print(f"TensorFlow's caller grows by {theirs.grown_mb:.0f} MB from its second round on")
    if not quick:
        body = {
            "ours": ours.told(), "tensorflow": theirs.told(), "samples": SAMPLES, "file_bytes": sizes
        }  # fmt: skip
        print(write_results("quant_debugger_against_tensorflow", PACKAGES, claims, body))
    return 0 if all(claim.holds for claim in claims) else 1


if __name__ == "__main__":
    raise SystemExit(main())
