"""Memory depends neither on the number of samples nor on that of rounds, and stays within its budget."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import outlive
from outlive.quant import comparison_plan
from outlive.quant.comparison_plan import BudgetTooSmall
from tests.quant.networks import dense_float, samples, weights
from tests.repetition import repeats, rounds

# The caller and all its workers, at every tenth sample of both verbs.
_PROGRAM = """
import json, sys, threading, numpy as np, psutil, outlive
model, count, rounds, rows, memory = sys.argv[1], *map(int, sys.argv[2:6])
process = psutil.Process()
caller = every = 0
def samples():
    chance = np.random.default_rng(0)
    for _ in range(count):
        yield chance.random((rows, 256), dtype=np.float32)
def look(*seen):
    global caller, every
    own = process.memory_info().rss
    caller = max(caller, own)
    if seen[-1] % 10 == 0:
        every = max(every, own + sum(one.memory_info().rss for one in process.children(recursive=True)))
held, turns = [], 0
made = outlive.quantize(model, "static-int8", samples, tell=look).model
outlive.compare(model, made, lambda: [np.zeros((rows, 256), np.float32)], layers=["0"])
before, caller = process.memory_info().rss, 0
for _ in range(rounds):
    drift = outlive.compare(model, made, samples, tell=look, memory=memory)
    assert drift.samples == count
    turns = drift.turns.count
    held.append(process.memory_info().rss)
print(json.dumps({"caller": caller, "every": every, "held": held, "before": before, "turns": turns,
                  "planned": drift.turns.largest_bytes, "threads": threading.active_count()}))
"""


def run(model: Path, count: int, rounds: int = 1, rows: int = 16, memory: int = 512_000_000) -> Any:
    command = [sys.executable, "-c", _PROGRAM, str(model), *map(str, (count, rounds, rows, memory))]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=400)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("memory") / "m.tflite"
    path.write_bytes(dense_float(weights(4, 256), batch=16))
    return path


@repeats
def test_many_samples_take_no_more_than_ten(model: Path) -> None:
    few, many = run(model, 10), run(model, rounds(300, soak=1000))
    # All values of 300 samples would be 40 MB.
    assert many["caller"] < 1.05 * few["caller"]
    assert many["every"] < 1.05 * few["every"]


def test_many_rounds_leave_nothing_behind(model: Path) -> None:
    found = run(model, 5, rounds=8)
    assert found["held"][-1] - found["held"][1] < 5_000_000
    assert found["threads"] == 1


def test_what_is_granted_is_kept(tmp_path: Path) -> None:
    path, rows, budget = tmp_path / "wide.tflite", 2048, 60_000_000
    path.write_bytes(dense_float(weights(8, 256), batch=rows))
    found, free = run(path, 2, rows=rows, memory=budget), run(path, 2, rows=rows, memory=10 * budget)
    assert found["turns"] > 2
    assert free["turns"] == 1
    assert found["planned"] <= budget < free["planned"]
    # The samples themselves, of 2 MB each, and the models are not counted.
    assert found["caller"] - found["before"] < budget + 10_000_000
    assert free["caller"] - free["before"] > budget + 20_000_000


def test_a_budget_that_holds_no_operator_is_refused_with_the_least_that_works() -> None:
    whole, given = dense_float(weights()), samples(2)
    with pytest.raises(BudgetTooSmall, match="the least that works") as caught:
        outlive.compare(whole, whole, given, memory=300)
    least = caught.value.least_bytes
    assert outlive.compare(whole, whole, given, memory=least).turns.count > 1
    with pytest.raises(BudgetTooSmall):
        outlive.compare(whole, whole, given, memory=least - 1)


def test_who_grants_nothing_gets_what_a_single_operator_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison_plan, "USUAL_BYTES", 300)
    drift = outlive.compare(dense_float(weights()), dense_float(weights()), samples(2))
    assert drift.turns.count > 1
    assert drift.turns.largest_bytes <= drift.turns.budget_bytes
