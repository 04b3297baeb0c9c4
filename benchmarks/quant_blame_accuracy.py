"""Faults planted in quantized models: the layer with the fault ranks first by added error.

python benchmarks/quant_blame_accuracy.py          ten models and ten others; results in results/
python benchmarks/quant_blame_accuracy.py --quick  two models, no results written
python benchmarks/quant_blame_accuracy.py --others only the ten others, no results written

The ranking was made with the first ten models (small ones of the corpus, dense networks). The ten others had
no say in it: large ones of the corpus, a trained network, and networks of convolutions with shortcuts.
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
from quant_planting import FAULTS, conv_network, dense_network, layers
from side_by_side import Claim, finish

import outlive

PACKAGES = ("outlive", "ai-edge-litert", "ai-edge-quantizer", "numpy")
CORPUS = Path(os.environ.get("OUTLIVE_CORPUS") or Path(__file__).parents[2] / "shared")
DIGITS = Path(__file__).parents[1] / "tests" / "quant" / "recorded" / "digits.tflite"
MODELS, LARGEST_BYTES, LARGEST_INPUT, SAMPLES = 10, 3_000_000, 128 * 128 * 3, 6
MOST_INPUT = 256 * 256 * 3
# A healthy layer's error is below this; a scale of four times what is needed costs two steps.
MOST_STEPS = 1.8
LEAST_DB, MOST_BAD = 5, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One fault: where it was planted, and where the planted layer ranks."""

    model: str
    fault: str
    op: int
    rank: int
    steps: float
    next_steps: float


def corpus_models(*, large: bool) -> Iterator[tuple[str, outlive.Model]]:
    """Float models of the corpus with one input; the small ones, or the others."""
    for path in sorted((CORPUS / "models").glob("*.tflite")):
        try:
            model = outlive.read(path)
        except outlive.OutliveError:
            continue
        first = model.inputs[0] if len(model.inputs) == 1 else None
        if first is None or first.dtype != "float32" or len(first.shape) < 2:
            continue
        values = math.prod(first.shape)
        small = model.file_bytes < LARGEST_BYTES and values <= LARGEST_INPUT
        if small is not large and values <= MOST_INPUT:
            yield path.name, model


def known_models() -> Iterator[tuple[str, outlive.Model]]:
    """What the ranking was made with: small models of the corpus, and then dense networks."""
    yield from corpus_models(large=False)
    for seed in range(MODELS):
        yield f"dense network {seed}", outlive.read(dense_network(seed))


def other_models() -> Iterator[tuple[str, outlive.Model]]:
    """What it was not made with: a trained network, convolutions with shortcuts, the large of the corpus."""
    yield "digits", outlive.read(DIGITS)
    for seed in range(3):
        yield f"conv network {seed}", outlive.read(conv_network(seed))
    yield from corpus_models(large=True)
    for seed in range(3, MODELS):
        yield f"conv network {seed}", outlive.read(conv_network(seed))


Case = tuple[str, outlive.Model, bytes, list[Any], list[int]]


def quantized_models(models: Iterator[tuple[str, outlive.Model]], count: int) -> Iterator[Case]:
    """Models that can be quantized, are healthy then, and have layers to plant a fault in."""
    for name, model in models:
        chance = np.random.default_rng(0)
        given = [chance.random(model.inputs[0].shape, dtype=np.float32) for _ in range(SAMPLES)]
        try:
            made = healthy(model, given)
        except outlive.OutliveError:
            continue
        places = [] if made is None else layers(outlive.read(made))
        if made is None or len(places) < 2:
            continue
        yield name, model, made, given, [places[len(places) // 3], places[2 * len(places) // 3]]
        count -= 1
        if not count:
            return


def healthy(model: outlive.Model, given: list[Any]) -> bytes | None:
    """The model in int8; layers that are bad without our help stay float, if they are few."""
    skip: list[str] = []
    for _ in range(3):
        made = outlive.quantize(model, "static-int8", given, skip=skip, seconds=240)
        drift = outlive.compare(model, made.model, given)
        decibels = [row.metrics.sqnr_db for row in drift.outputs if row.metrics is not None]
        bad = [row.reference_name for row in drift.tensors if row.blame >= MOST_STEPS]
        if not decibels or made.findings:
            return None
        if not bad:
            return made.model if min(decibels) >= LEAST_DB else None
        if len(bad) > MOST_BAD:
            return None
        skip += [name for name in dict.fromkeys(bad) if name not in skip]
    return None


def planted(models: Iterator[tuple[str, outlive.Model]], count: int) -> Iterator[Row]:
    """Every fault in two layers of every model."""
    for name, model, made, given, places in quantized_models(models, count):
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


def measured(
    models: Iterator[tuple[str, outlive.Model]], count: int, word: str
) -> tuple[list[Row], list[Claim]]:
    """All faults in so many models, and what is claimed of them."""
    rows = []
    for row in planted(models, count):
        rows.append(row)
        place = f"{row.model:44.44} {row.fault:20} op {row.op:3}"
        print(f"{place}  rank {row.rank}  {row.steps:.2f} {row.next_steps:.2f}", flush=True)
    first = sum(row.rank == 1 for row in rows) / max(len(rows), 1)
    told = f"planted layer ranks first ({len(rows)} faults{word})"
    claims = [
        Claim(text=told, ratio=first, bound=0.95, at_least=True),
        Claim(text=f"models{word}", ratio=len({row.model for row in rows}), bound=count, at_least=True),
    ]
    return rows, claims


def main() -> int:
    """Measure, print, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--others", action="store_true")
    args = parser.parse_args()
    rows: list[Row] = []
    claims: list[Claim] = []
    if not args.others:
        rows, claims = measured(known_models(), 2 if args.quick else MODELS, "")
    others: list[Row] = []
    if not args.quick:
        others, more = measured(other_models(), MODELS, " in models it was not made with")
        claims += more
    body = {"faults": [asdict(row) for row in rows], "others": [asdict(row) for row in others]}
    return finish("quant_blame_accuracy", PACKAGES, claims, body, quick=args.quick or args.others)


if __name__ == "__main__":
    raise SystemExit(main())
