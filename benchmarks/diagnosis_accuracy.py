"""Diagnoses beside the truth: `python benchmarks/diagnosis_accuracy.py [--quick]`.

All LiteRT cases of the crash corpus: those that are a model and inputs are diagnosed, those that are calls
are met as a user meets them (crash_calls.py); cause, operator and stage right, and whether `check` alone
says so; the confusion matrix of causes. A fault that does not strike here has no stage, and is listed; if
nothing is told of it either, its cause counts as wrong. Then faults planted in the middle of real models of
many operators: cause and operator index right, on the models and places that the diagnosis was built with,
and on others that were held out. A planted model that still runs and in which nothing is found is counted
as harmless, and as nothing else. Of the models held out, 12 were looked at once, and one mend (weights with a
dimension of zero) came of it: only a fresh seed and other models are a clean test.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from case_words import cause_of, says_so
from crash_calls import Told, told_of
from planted_faults import PLANTERS, Plant, Planter, plants
from side_by_side import Claim, write_results
from unbuilt_faults import UNBUILT

import outlive
from outlive.model import Model, read_source

REPOSITORY = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("OUTLIVE_CORPUS") or REPOSITORY.parent / "shared")
PACKAGES = ("outlive", "ai-edge-litert", "numpy")
STAGES = {"teardown": "free", "set_tensor": "set", "get_tensor": "get"}
# Cases of the corpus that are a model and inputs; the others are calls of their own.
_BY_MODEL = ("_fz_", "_heapdep_", "custom_op_unregistered")
MOST_BYTES = 4_000_000
LEAST_OPS = 6
MODELS, QUICK_MODELS = 16, 4
# Where faults are planted in models that the diagnosis was not built with.
HELD_OUT_SEED, HELD_OUT_KINDS = 20_261, 5


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
    way: str = "diagnose"


def cases() -> Iterator[tuple[Path, dict[str, Any]]]:
    """LiteRT cases of the corpus."""
    for path in sorted((CORPUS / "crashes").glob("[0-9]*/case.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        if case["package"] == "ai-edge-litert" and (path.parent / "model.tflite").exists():
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
    told = _told_of_model(path, model, case) if _is_model(folder) else told_of(folder, case["mem_limit_gb"])
    op, visible = case.get("op") or {}, case["visible_statically"] in ("flatbuffer", "call_arguments")
    known = {operator.name for operator in model.operators()} if model is not None else set()
    return Row(
        name=folder.name,
        wanted=cause_of(case),
        found=told.cause,
        cause=says_so(case, told.cause),
        op=_same_op(op, told.op) if op.get("name") in known else None,
        stage=told.stage == STAGES.get(case["stage"], case["stage"]) if told.stage else None,
        seen_before=any(says_so(case, word) for word in told.before) if visible else None,
        way=told.way,
    )


def _is_model(folder: Path) -> bool:
    return any(word in folder.name for word in _BY_MODEL)


def _told_of_model(path: Path, model: Model | None, case: dict[str, Any]) -> Told:
    diagnosis = outlive.diagnose(path, inputs_for(model, case.get("input_mode")))
    struck = diagnosis.died or diagnosis.end is not None
    return Told(
        way="diagnose" if struck else "diagnose: it ran here",
        cause=diagnosis.cause,
        stage=diagnosis.stage if struck else "",
        op=None if diagnosis.op is None else (diagnosis.op.type, diagnosis.op.index),
        before=frozenset(finding.cause for finding in outlive.check(path)),
    )


def _same_op(wanted: dict[str, Any], found: tuple[str, int | None] | None) -> bool:
    if found is None or found[0] != wanted["name"]:
        return False
    return wanted["index"] in (None, found[1])


Named = tuple[str, Model]


def sound_models() -> tuple[list[Named], list[Named]]:
    """Real models that run as they are: those that the diagnosis was built with, and all others.

    It was built with those of many operators, not too large, that have the most operator types.
    """
    rows = map(json.loads, (CORPUS / "models" / "MANIFEST.jsonl").read_text(encoding="utf-8").splitlines())
    found = []
    for row in rows:
        path = CORPUS / "models" / row["file"]
        if row["outcome"] != "ok" or not path.exists():
            continue
        model = read_source(path).model
        if model is not None and not model.flaws and len(model.subgraphs) == 1:
            found.append((path.name, model))
    found.sort(key=lambda item: -len({operator.type for operator in item[1].operators()}))
    built = [item for item in found if _was_used(item[1])][:MODELS]
    others = [item for item in found if item not in built and len(item[1].subgraphs[0].operators) > 2]
    return built, others


def _was_used(model: Model) -> bool:
    return len(model.content) <= MOST_BYTES and len(model.subgraphs[0].operators) >= LEAST_OPS


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """What was found of planted faults: how many did no harm, in how many models."""

    rows: list[Row]
    harmless: int
    models: int


def judge_plants(models: list[Named], planters: Mapping[str, Planter], seed: int | None) -> Planted:
    """Faults in each model: every kind near the middle, or a few kinds where chance has them."""
    rows: list[Row] = []
    harmless = 0
    for number, (name, model) in enumerate(models):
        for plant in _chosen(model, planters, None if seed is None else (seed, number)):
            diagnosis = outlive.diagnose(plant.data)
            if diagnosis.verdict is None:
                harmless += 1
                continue
            rows.append(_judged(name, plant, diagnosis))
            tell(rows[-1])
    return Planted(rows=rows, harmless=harmless, models=len(models))


def _chosen(model: Model, planters: Mapping[str, Planter], seed: tuple[int, int] | None) -> Iterator[Plant]:
    if seed is None:
        return plants(model, planters)
    rng = np.random.default_rng(seed)
    names = [list(planters)[place] for place in rng.permutation(len(planters))]
    return islice(plants(model, {name: planters[name] for name in names}, rng), HELD_OUT_KINDS)


def _judged(name: str, plant: Plant, diagnosis: outlive.Diagnosis) -> Row:
    op = diagnosis.op
    return Row(
        name=f"{name}: {plant.cause}",
        wanted=plant.cause,
        found=diagnosis.cause,
        cause=diagnosis.cause == plant.cause,
        op=op is not None and op.subgraph == 0 and op.index in plant.ops,
        stage=None,
    )


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
    count = QUICK_MODELS if quick else MODELS
    with_them, others = sound_models()
    built = judge_plants(with_them[:count], PLANTERS, None)
    held_out = judge_plants(others[:count], {**PLANTERS, **UNBUILT}, HELD_OUT_SEED)
    claims = _claims(corpus, built.rows, held_out.rows)
    for wanted, found in matrix(corpus).items():
        print(f"  {wanted:32} {', '.join(f'{name} {number}' for name, number in found.items())}")
    for said, planted in (("built with", built), ("held out", held_out)):
        kinds = len({row.wanted for row in planted.rows})
        where = f"in {planted.models} models; {planted.harmless} more did no harm"
        print(f"{said}: {len(planted.rows)} faults of {kinds} causes {where}")
    print("did not strike here:", ", ".join(row.name for row in corpus if row.stage is None))
    print(*claims, sep="\n")
    if not quick:
        body = {
            "corpus": {
                "cases": len(corpus),
                "did_not_strike_here": [row.name for row in corpus if row.stage is None],
                "confusion": matrix(corpus),
                "rows": [asdict(row) for row in corpus],
            },
            "planted": _planted_json(built),
            "planted_held_out": _planted_json(held_out),
        }
        print(f"written to {write_results('diagnosis_accuracy', PACKAGES, claims, body)}")
    return 0 if all(claim.holds for claim in claims) or quick else 1


def _planted_json(planted: Planted) -> dict[str, Any]:
    return {
        "faults": len(planted.rows),
        "models": planted.models,
        "harmless": planted.harmless,
        "confusion": matrix(planted.rows),
        "missed": [asdict(row) for row in planted.rows if not (row.cause and row.op)],
    }


def _claims(corpus: list[Row], built: list[Row], held_out: list[Row]) -> list[Claim]:
    def claim(text: str, values: list[bool | None], bound: float) -> Claim:
        known = sum(value is not None for value in values)
        return Claim(text=f"{text} (of {known})", ratio=share(values), bound=bound, at_least=True)

    return [
        claim("crash cases: cause right", [row.cause for row in corpus], 0.9),
        claim("crash cases: operator right", [row.op for row in corpus], 0.95),
        claim("crash cases that struck here: stage right", [row.stage for row in corpus], 1.0),
        claim("visible cases that check alone names", [row.seen_before for row in corpus], 0.8),
        claim("planted faults: cause right", [row.cause for row in built], 0.85),
        claim("planted faults: operator right", [row.op for row in built], 0.9),
        claim("planted faults held out: cause right", [row.cause for row in held_out], 0.85),
        claim("planted faults held out: operator right", [row.op for row in held_out], 0.9),
    ]


if __name__ == "__main__":
    raise SystemExit(main())
