"""Our TFLM plan against the real TFLM: its figures for the corpus, and its wasm32 build."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from outlive.arena.plan import Plan, Question
from outlive.arena.tflm.planning import plan_tflm
from outlive.model import read_source
from outlive.worker.micro import MicroMeasure, NotMeasured, measure_micro
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
    if not row["ok"]:
        pytest.skip("TFLM refuses it with any kernels")
    wanted = row["cmsis_nn_m4"]
    plan = planned(corpus_model, kernels="cmsis-nn")
    assert plan is not None
    if "error" in wanted:
        assert plan.refusals
        return
    tail = wanted["arena_used_bytes_32"] - wanted["planner_bytes"]
    assert (plan.arena_bytes, plan.persistent_bytes) == (wanted["planner_bytes"], tail)


def test_the_operators_that_are_missing_are_those_tflm_names(
    truth: dict[str, dict[str, Any]], corpus_model: Path
) -> None:
    row = told(truth, corpus_model)
    plan = planned(corpus_model)
    if plan is None or "registration" not in row.get("error", ""):
        pytest.skip("no operator is missing")
    # The truth lists every kind of operator the file declares, ours those it uses.
    assert plan.refusals
    assert {refusal.type for refusal in plan.refusals} <= set(row["missing_op"])


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


def test_corpus_figures_in_wasm32(corpus_model: Path) -> None:
    answer = measure_micro(corpus_model)
    if isinstance(answer, NotMeasured):
        pytest.skip(f"{answer.reason} {answer.remedy}")
    model = read_source(corpus_model).model
    assert model is not None
    plan = plan_tflm(model, Question(accelerator="tflm", abi="wasm32"), benchmark=True)
    assert (plan.arena_bytes, plan.persistent_bytes) == (answer.arena_bytes, answer.persistent_bytes)
