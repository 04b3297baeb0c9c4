"""Every recipe on every float model of the corpus: quantized and compared, or refused with the reason.

python benchmarks/quant_matrix.py                    all of them, about half an hour; results in results/
python benchmarks/quant_matrix.py --quick            models of up to 100 kB, no results written
python benchmarks/quant_matrix.py --only kws mnist   models whose name has one of these words

A model is float if any of its operators computes with float32. Nothing may die, and nothing may be raised
that is no finding; what is refused, and by whom, is listed.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from side_by_side import Claim, finish

import outlive
from outlive.quant.recipes import RECIPES
from outlive.quant.samples import random_samples

PACKAGES = ("outlive", "ai-edge-litert", "ai-edge-quantizer", "numpy")
CORPUS = Path(os.environ.get("OUTLIVE_CORPUS") or Path(__file__).parents[2] / "shared")
SAMPLES, SECONDS, SMALL_BYTES = 2, 300, 100_000
# What a quantizer or the runtime may say to a model, be it the new one or the old; each is a finding.
REFUSALS = ("Q213", "Q214", "Q217", "D511")
GOOD = ("quantized", "refused")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One model and one recipe: what it came to, and why."""

    model: str
    recipe: str
    outcome: str
    why: str = ""
    quantized: int = 0
    operators: int = 0
    sqnr_db: float | None = None
    seconds: float = 0.0


def float_models(most_bytes: int | None, words: Sequence[str]) -> Iterator[tuple[str, outlive.Model]]:
    """The models of the corpus that compute with float32, the small ones first."""
    for path in sorted((CORPUS / "models").glob("*.tflite"), key=lambda path: path.stat().st_size):
        if most_bytes is not None and path.stat().st_size > most_bytes:
            continue
        if words and not any(word in path.name for word in words):
            continue
        try:
            model = outlive.read(path)
        except outlive.OutliveError:
            continue  # malformed on purpose
        if is_float(model):
            yield path.name, model


def is_float(model: outlive.Model) -> bool:
    """True if any operator of the main subgraph writes float32."""
    graph = model.subgraphs[0]
    return any(graph.tensors[out].dtype == "float32" for step in graph.operators for out in step.outputs)


def tried(name: str, model: outlive.Model, recipe: str) -> Row:
    """Quantize and compare; what goes wrong is the outcome."""
    started = time.perf_counter()
    found: dict[str, Any] = {}
    try:
        found = _quantized(model, recipe)
    except (outlive.ModelDied, outlive.LimitReached) as error:
        found = {"outcome": "died", "why": error.finding.headline}
    except outlive.OutliveError as error:
        kind = "refused" if error.finding.code in REFUSALS else "raised"
        found = {"outcome": kind, "why": f"{error.finding.code} {error.finding.evidence[0].fact}"}
    except ValueError as error:
        told = "give samples" in str(error)  # inputs of text, for which nobody can invent any
        found = {"outcome": "refused" if told else "raised", "why": str(error)}
    except Exception as error:
        found = {"outcome": "raised", "why": f"{type(error).__name__}: {error}"}
    found["why"] = str(found.get("why", ""))[:200]
    return Row(model=name, recipe=recipe, seconds=round(time.perf_counter() - started, 2), **found)


def _quantized(model: outlive.Model, recipe: str) -> dict[str, Any]:
    samples = list(random_samples(model, SAMPLES))
    made = outlive.quantize(model, recipe, samples, seconds=SECONDS)
    counts = {"quantized": len(made.quantized_layers), "operators": len(made.layers)}
    bad = [finding for finding in made.findings if finding.code in REFUSALS]
    if bad:
        return {"outcome": "refused", "why": f"{bad[0].code} {bad[0].evidence[0].fact}", **counts}
    drift = outlive.compare(model, made.model, samples)
    known = [row.metrics.sqnr_db for row in drift.outputs if row.metrics is not None]
    return {"outcome": "quantized", "sqnr_db": min(known, default=None), **counts}


def main() -> int:
    """Try, print, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD")
    parser.add_argument("--recipes", nargs="+", default=list(RECIPES), metavar="NAME")
    args = parser.parse_args()
    rows = []
    for name, model in float_models(SMALL_BYTES if args.quick else None, args.only):
        for recipe in args.recipes:
            row = tried(name, model, recipe)
            rows.append(row)
            quality = "" if row.sqnr_db is None else f"{row.sqnr_db:.1f} dB"
            told = f"{row.quantized}/{row.operators} {quality} {row.why}"
            print(f"{name:40.40} {recipe:17} {row.outcome:10} {row.seconds:6.1f} s  {told}", flush=True)
    outcomes = Counter(row.outcome for row in rows)
    print(", ".join(f"{count} {word}" for word, count in outcomes.most_common()))
    good = sum(outcomes[word] for word in GOOD) / max(len(rows), 1)
    quantized = outcomes["quantized"] / max(len(rows), 1)
    models = len({row.model for row in rows})
    claims = [
        Claim(text=f"quantized or refused ({len(rows)} tries)", ratio=good, bound=1, at_least=True),
        Claim(text=f"quantized and compared ({models} models)", ratio=quantized, bound=0.45, at_least=True),
    ]
    body = {"tries": [asdict(row) for row in rows]}
    return finish("quant_matrix", PACKAGES, claims, body, quick=args.quick or bool(args.only))


if __name__ == "__main__":
    raise SystemExit(main())
