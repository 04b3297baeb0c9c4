"""Logs of real failures, where they are at hand: explained, never misleading, with a remedy that helps."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from outlive.diagnosis.autopsy import read_text

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "log_accuracy.py"


def scorer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("log_accuracy", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["log_accuracy"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.corpus
def test_real_logs_are_explained(corpus: Path) -> None:
    folder = corpus / "logs"
    if not (folder / "cases.jsonl").exists():
        pytest.skip(f"there are no logs of real failures in {folder}")
    rows = list(scorer().rows_of(folder))
    wrong = [f"{row.id} {row.kind}: {row.verdict}" for row in rows if row.verdict != "right"]
    assert len(wrong) <= len(rows) // 10, wrong
    assert [row.id for row in rows if row.verdict == "misleading"] == []
    assert sum(row.remedy for row in rows) >= 0.75 * len(rows)


def test_a_misleading_answer_costs_five_times_a_silent_one() -> None:
    module = scorer()
    told = {
        "right": read_text("Out of memory: Killed process 7 (python3) total-vm:9kB, anon-rss:8kB"),
        "silent": read_text("all is well"),
        "misleading": read_text("Out of memory: Killed process 42 (python3) total-vm:9kB, anon-rss:8kB"),
    }
    expected = {
        "right": {"cause_any": ["memory"]},
        "silent": {"cause_any": ["thunder"]},
        "misleading": {"cause_any": ["thunder"], "never": ["memory"]},
    }
    rows = []
    for verdict, answer in told.items():
        assert module.judged(answer, expected[verdict], "") == verdict
        rows.append(module.Row(id="1", kind=verdict, verdict=verdict, remedy=True, code="", cause=""))
    costs = {row.verdict: module.claims_of([row])[-1].ratio for row in rows}
    assert costs["misleading"] == 5 * costs["silent"]
    assert costs["right"] == 0
    head, *lines = module.table(rows)
    assert head.split() == ["kind", *module.VERDICTS]
    assert len(lines) == 3
