"""Faults planted in quantized models: the layer with the fault ranks first in the born-here view.

python benchmarks/quant_blame_accuracy.py          ten models, of the corpus first; results in results/
python benchmarks/quant_blame_accuracy.py --quick  two models, no results written
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from quant_planting import FAULTS, dense_network, layers
from side_by_side import Claim, write_results

import outlive

PACKAGES = ("outlive", "ai-edge-litert", "ai-edge-quantizer", "numpy")
CORPUS = Path(os.environ.get("OUTLIVE_CORPUS") or Path(__file__).parents[2] / "shared")
MODELS, LARGEST_BYTES, LARGEST_INPUT, SAMPLES = 10, 3_000_000, 128 * 128 * 3, 6
# A healthy layer's error is below this; a scale of four times what is needed costs two steps.
MOST_STEPS = 1.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One fault: where it was planted, and where the planted layer ranks."""

    model: str
    fault: str
    op: int
    rank: int
    steps: float
    next_steps: float


def float_models() -> Iterator[tuple[str, outlive.Model]]:
    """Float models of the corpus with one input that is not too large, and then networks of our own."""
    for path in sorted((CORPUS / "models").glob("*.tflite")):
        try:
            model = outlive.read(path)
        except outlive.OutliveError:
            continue
        first = model.inputs[0] if len(model.inputs) == 1 else None
        if first is None or first.dtype != "float32" or len(first.shape) < 2:
            continue
        if model.file_bytes < LARGEST_BYTES and math.prod(first.shape) <= LARGEST_INPUT:
            yield path.name, model
    for seed in range(MODELS):
        yield f"dense network {seed}", outlive.read(dense_network(seed))


def quantized_models(count: int) -> Iterator[tuple[str, outlive.Model, bytes, list[Any], list[int]]]:
    """Models that can be quantized, are healthy then, and have layers to plant a fault in."""
    for name, model in float_models():
        chance = np.random.default_rng(0)
        given = [chance.random(model.inputs[0].shape, dtype=np.float32) for _ in range(SAMPLES)]
        try:
            made = outlive.quantize(model, "static-int8", given, seconds=120)
            healthy = outlive.compare(model, made.model, given)
        except outlive.OutliveError:
            continue
        places = layers(outlive.read(made.model))
        decibels = [row.metrics.sqnr_db for row in healthy.outputs if row.metrics is not None]
        if len(places) < 2 or not decibels or min(decibels) < 5 or made.findings:
            continue
        if healthy.worst(1)[0].blame >= MOST_STEPS:
            continue  # it has a faulty layer without our help
        yield name, model, made.model, given, [places[len(places) // 3], places[2 * len(places) // 3]]
        count -= 1
        if not count:
            return


def planted(count: int) -> Iterator[Row]:
    """Every fault in two layers of every model."""
    for name, model, made, given, places in quantized_models(count):
        for fault, plant in FAULTS.items():
            for op in dict.fromkeys(places):
                yield _measure(name, fault, op, outlive.compare(model, plant(made, op), given))


def _measure(name: str, fault: str, op: int, drift: outlive.Drift) -> Row:
    ranked = drift.worst(len(drift.tensors))
    places = [place for place, row in enumerate(ranked, 1) if row.op == op]
    own = next((row.blame for row in ranked if row.op == op), 0.0)
    other = max((row.blame for row in ranked if row.op != op), default=0.0)
    rank = places[0] if places else len(drift.tensors)
    return Row(model=name, fault=fault, op=op, rank=rank, steps=own, next_steps=other)


def main() -> int:
    """Measure, print, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    rows = []
    for row in planted(2 if quick else MODELS):
        rows.append(row)
        place = f"{row.model:44.44} {row.fault:20} op {row.op:3}"
        print(f"{place}  rank {row.rank}  {row.steps:.2f} {row.next_steps:.2f}", flush=True)
    first = sum(row.rank == 1 for row in rows) / max(len(rows), 1)
    models = len({row.model for row in rows})
    claims = [
        Claim(text=f"planted layer ranks first ({len(rows)} faults)", ratio=first, bound=0.95, at_least=True),
        Claim(text="models", ratio=models, bound=2 if quick else MODELS, at_least=True),
    ]
    for claim in claims:
        print(claim)
    if not quick:
        body = {"faults": [asdict(row) for row in rows]}
        print(write_results("quant_blame_accuracy", PACKAGES, claims, body))
    return 0 if all(claim.holds for claim in claims) else 1


if __name__ == "__main__":
    raise SystemExit(main())
