"""Diagnoses beside the truth: `python benchmarks/diagnosis_accuracy.py [--quick]`.

The LiteRT cases of the crash corpus, with the inputs each of them needs: cause, operator and stage right, and
whether `check` alone says so; the confusion matrix of causes. Then faults planted in the middle of real
models of many operators: cause and operator index right. A planted model that still runs and in which nothing
is found is counted as harmless, and as nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from case_words import cause_of
from planted_faults import PLANTERS, plants
from side_by_side import Claim, write_results

import outlive
from outlive.model import Model, read_source

REPOSITORY = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("OUTLIVE_CORPUS") or REPOSITORY.parent / "shared")
PACKAGES = ("outlive", "ai-edge-litert", "numpy")
STAGES = {"teardown": "free", "set_tensor": "set", "get_tensor": "get"}
# Cases of the corpus that need a call of their own, not only a model and inputs: tests/worker runs those.
_BY_MODEL = ("_fz_", "_heapdep_", "custom_op_unregistered")
MOST_BYTES = 4_000_000
LEAST_OPS = 6
MODELS, QUICK_MODELS = 16, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One diagnosis beside the truth; None where there is no truth to compare with."""

    name: str
    wanted: str
    found: str
    cause: bool
    op: bool | None
    stage: bool | None
    seen_before: bool | None = None


def cases() -> Iterator[tuple[Path, dict[str, Any]]]:
    """LiteRT cases of the corpus that are a model and inputs."""
    for path in sorted((CORPUS / "crashes").glob("[0-9]*/case.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        by_model = any(word in path.parent.name for word in _BY_MODEL)
        if case["package"] == "ai-edge-litert" and by_model and (path.parent / "model.tflite").exists():
            yield path.parent, case


def inputs_for(model: Model | None, mode: str | None) -> list[Any] | None:
    """What a case feeds: integers of one kind, floats at random."""
    if model is None or mode in (None, "small") or not any("int" in item.dtype for item in model.inputs):
        return None
    rng = np.random.default_rng(1)
    return [_array(tensor.shape, tensor.dtype, mode or "", rng) for tensor in model.inputs]


def _array(shape: tuple[int, ...], dtype: str, mode: str, rng: np.random.Generator) -> Any:
    if dtype == "string":
        return np.full(shape, b"hello world foo", dtype=object)
    kind = np.dtype(dtype)
    if kind.kind not in "iu":
        return rng.standard_normal(shape).astype(kind)
    limits = np.iinfo(kind)
    number = {
        "ones": 1,
        "huge": limits.max,
        "hugeneg": max(int(limits.min), -100_000_000),
        "hugepos": min(int(limits.max), 100_000_000),
    }.get(mode)
    if number is not None:
        return np.full(shape, number, kind)
    if mode == "neg":
        return (-rng.integers(1, 5, shape)).astype(kind)
    return rng.integers(1000, 100_000, shape).astype(kind)


def judge_case(folder: Path, case: dict[str, Any]) -> Row:
    """One case: diagnosed, and checked without running."""
    path = folder / "model.tflite"
    model = read_source(path).model
    diagnosis = outlive.diagnose(path, inputs_for(model, case.get("input_mode")))
    wanted = cause_of(case)
    op, visible = case.get("op") or {}, case["visible_statically"] in ("flatbuffer", "call_arguments")
    named = op.get("name") if op.get("name") not in (None, "?", "-") else None
    known = {operator.name for operator in model.operators()} if model is not None else set()
    stage = STAGES.get(case["stage"], case["stage"])
    before = {finding.cause for finding in outlive.check(path)}
    return Row(
        name=folder.name,
        wanted=wanted,
        found=diagnosis.cause,
        cause=diagnosis.cause == wanted,
        op=None
        if named not in known
        else (
            diagnosis.op is not None
            and diagnosis.op.type == named
            and op["index"] in (None, diagnosis.op.index)
        ),
        stage=diagnosis.stage == stage if diagnosis.died else None,
        seen_before=wanted in before if visible else None,
    )


def sound_models() -> Iterator[tuple[str, Model]]:
    """Real models of many operators that run as they are, the ones with most operator types first."""
    rows = map(json.loads, (CORPUS / "models" / "MANIFEST.jsonl").read_text(encoding="utf-8").splitlines())
    found = []
    for row in rows:
        path = CORPUS / "models" / row["file"]
        if row["outcome"] != "ok" or not path.exists() or path.stat().st_size > MOST_BYTES:
            continue
        model = read_source(path).model
        if model is None or model.flaws or len(model.subgraphs) > 1:
            continue
        if len(model.subgraphs[0].operators) >= LEAST_OPS:
            found.append((path.name, model))
    yield from sorted(found, key=lambda item: -len({operator.type for operator in item[1].operators()}))


def judge_plants(most: int) -> tuple[list[Row], int, int]:
    """Planted faults: what was found of each, how many were harmless, in how many models."""
    rows: list[Row] = []
    harmless = used = 0
    for name, model in sound_models():
        if used == most:
            break
        used += 1
        for plant in plants(model):
            diagnosis = outlive.diagnose(plant.data)
            if diagnosis.verdict is None:
                harmless += 1
                continue
            op = diagnosis.op
            rows.append(
                Row(
                    name=f"{name}: {plant.cause}",
                    wanted=plant.cause,
                    found=diagnosis.cause,
                    cause=diagnosis.cause == plant.cause,
                    op=op is not None and op.subgraph == 0 and op.index in plant.ops,
                    stage=None,
                )
            )
            tell(rows[-1])
    return rows, harmless, used


def tell(row: Row) -> None:
    """Say what was not found."""
    if not row.cause or row.op is False or row.stage is False:
        wrong = [name for name in ("cause", "op", "stage") if getattr(row, name) is False]
        print(f"  {row.name}: {row.wanted} was told as {row.found}; wrong: {', '.join(wrong)}", flush=True)


def share(values: list[bool | None]) -> float:
    """The share that is true, of those that are known."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else 0.0


def matrix(rows: list[Row]) -> dict[str, dict[str, int]]:
    """How often each cause was told as which."""
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        counts.setdefault(row.wanted, Counter())[row.found or "(runs)"] += 1
    return {wanted: dict(found.most_common()) for wanted, found in sorted(counts.items())}


def main() -> int:
    """Measure, print the confusion matrix and the claims, write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few models, and no results are written")
    quick = parser.parse_args().quick
    if not (CORPUS / "crashes").is_dir():
        print(f"there is no folder {CORPUS / 'crashes'}; set OUTLIVE_CORPUS to a folder that has crashes/")
        return 0
    corpus = []
    for folder, case in list(cases())[: 10 if quick else None]:
        corpus.append(judge_case(folder, case))
        tell(corpus[-1])
    planted, harmless, used = judge_plants(QUICK_MODELS if quick else MODELS)
    claims = _claims(corpus, planted)
    for wanted, found in matrix(corpus).items():
        print(f"  {wanted:32} {', '.join(f'{name} {count}' for name, count in found.items())}")
    print(
        f"planted {len(planted)} faults of {len({row.wanted for row in planted})} kinds (of {len(PLANTERS)}) "
    )
    print(f"in {used} models; {harmless} more did no harm")
    print(*claims, sep="\n")
    if not quick:
        body = {
            "corpus": {
                "cases": len(corpus),
                "confusion": matrix(corpus),
                "rows": [asdict(row) for row in corpus],
            },
            "planted": {
                "faults": len(planted),
                "models": used,
                "harmless": harmless,
                "confusion": matrix(planted),
                "missed": [asdict(row) for row in planted if not (row.cause and row.op)],
            },
        }
        print(f"written to {write_results('diagnosis_accuracy', PACKAGES, claims, body)}")
    return 0 if all(claim.holds for claim in claims) or quick else 1


def _claims(corpus: list[Row], planted: list[Row]) -> list[Claim]:
    def claim(text: str, values: list[bool | None], bound: float) -> Claim:
        known = sum(value is not None for value in values)
        return Claim(text=f"{text} (of {known})", ratio=share(values), bound=bound, at_least=True)

    return [
        claim("crash cases: cause right", [row.cause for row in corpus], 0.9),
        claim("crash cases: operator right", [row.op for row in corpus], 0.95),
        claim("crash cases that died here: stage right", [row.stage for row in corpus], 1.0),
        claim("visible cases that check alone names", [row.seen_before for row in corpus], 0.8),
        claim("planted faults: cause right", [row.cause for row in planted], 0.85),
        claim("planted faults: operator right", [row.op for row in planted], 0.9),
    ]


if __name__ == "__main__":
    raise SystemExit(main())
