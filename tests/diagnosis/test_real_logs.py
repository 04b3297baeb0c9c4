"""Logs of real failures, where they are at hand: explained, never misleading, with a remedy that helps."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

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
