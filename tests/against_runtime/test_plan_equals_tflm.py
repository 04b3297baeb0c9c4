"""Our TFLM plan against the real TFLM: its figures for the corpus, and its wasm32 build."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from outlive.arena.plan import Plan, Question
from outlive.arena.tflm.planning import plan_tflm
from outlive.interpreter.tflm_benchmark import MicroMeasure, NotMeasured, measure_micro
from outlive.model import read_source
from tests.arena.tflm_models import ALL

ABI_FIELDS = (("cortex-m", "32"), ("host64", "64"))


@pytest.fixture(scope="session")
def truth(corpus: Path) -> dict[str, dict[str, Any]]:
    """What the real TFLM said of each model, by the digest of its file."""
    path = corpus / "tflm_truth.jsonl"
    if not path.is_file():
        pytest.skip(f"needs the figures of the real TFLM, {path}")
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {row["sha256"]: row for row in rows}


def told(truth: dict[str, dict[str, Any]], path: Path) -> dict[str, Any]:
    """The truth about one file."""
    row = truth.get(hashlib.sha256(path.read_bytes()).hexdigest())
    if row is None:
        pytest.skip("the real TFLM was not asked about this model")
    return row


def planned(path: Path, **question: str) -> Plan | None:
    """Our plan; None for a file that is no model."""
    model = read_source(path).model
    return None if model is None else plan_tflm(model, Question(accelerator="tflm", **question))  # type: ignore[arg-type]


@pytest.mark.parametrize(("abi", "bits"), ABI_FIELDS)
def test_corpus_figures(truth: dict[str, dict[str, Any]], corpus_model: Path, abi: str, bits: str) -> None:
    row = told(truth, corpus_model)
    plan = planned(corpus_model, abi=abi)
    if not row["ok"]:
        assert plan is None or (plan.arena_bytes is None and plan.refusals)
        return
    assert plan is not None
    assert not plan.refusals
    assert plan.arena_bytes == row["planner_bytes"]
    assert plan.persistent_bytes == row[f"tail_bytes_{bits}"]
    least = row[f"min_arena_bytes_{bits}"]
    assert least is None or plan.min_arena_bytes == least
    assert plan.exact


def test_corpus_figures_with_cmsis_nn(truth: dict[str, dict[str, Any]], corpus_model: Path) -> None:
    row = told(truth, corpus_model)
    plan = planned(corpus_model, kernels="cmsis-nn")
    wanted = row["cmsis_nn_m4"] if row["ok"] else {"error": "TFLM refuses it with any kernels"}
    if "error" in wanted:
        assert plan is None or plan.refusals
        return
    assert plan is not None
    tail = wanted["arena_used_bytes_32"] - wanted["planner_bytes"]
    assert (plan.arena_bytes, plan.persistent_bytes) == (wanted["planner_bytes"], tail)


def test_the_operators_that_are_missing_are_those_tflm_names(
    truth: dict[str, dict[str, Any]], corpus_model: Path
) -> None:
    row = told(truth, corpus_model)
    plan = planned(corpus_model)
    found = {refusal.type for refusal in plan.refusals if refusal.missing} if plan is not None else set()
    named = "registration" in (row.get("error") or "")
    # The truth lists every kind of operator the file declares, ours those it uses.
    assert found <= set(row["missing_op"] or ())
    assert bool(found) == named


def measured(data: bytes) -> MicroMeasure:
    """What TFLM in wasm32 takes; skips where it cannot be run."""
    answer = measure_micro(data)
    if isinstance(answer, NotMeasured):
        assert answer.remedy, answer.reason
        pytest.skip(f"{answer.reason}: {answer.remedy}")
    return answer


@pytest.mark.parametrize("name", sorted(set(ALL) - {"looping"}))
def test_wasm32_figures_are_what_the_benchmark_reports(name: str) -> None:
    answer = measured(ALL[name])
    model = read_source(ALL[name]).model
    assert model is not None
    plan = plan_tflm(model, Question(accelerator="tflm", abi="wasm32"), benchmark=True)
    assert (plan.arena_bytes, plan.persistent_bytes) == (answer.arena_bytes, answer.persistent_bytes)


def test_corpus_figures_in_wasm32(corpus_models: tuple[Path, ...]) -> None:
    compared, expected = 0, 0
    for path in corpus_models:
        model = read_source(path).model
        plan = model and plan_tflm(model, Question(accelerator="tflm", abi="wasm32"), benchmark=True)
        if not plan or plan.min_arena_bytes is None or not _fits_the_benchmark(plan):
            continue
        expected += 1
        answer = measure_micro(path)
        if isinstance(answer, NotMeasured):
            if answer.remedy:
                pytest.skip(f"{answer.reason}: {answer.remedy}")
            continue  # it prints its table only after an invoke, which not every model survives there
        compared += 1
        figures = (answer.arena_bytes, answer.persistent_bytes)
        assert (plan.arena_bytes, plan.persistent_bytes) == figures, path.name
    assert compared >= expected / 2, f"{compared} of {expected} were answered for"


def _fits_the_benchmark(plan: Plan) -> bool:
    """As `outlive.interpreter.tflm_benchmark` says of it."""
    return (plan.min_arena_bytes or 0) < 2_900_000 and plan.file_bytes < 2_000_000
