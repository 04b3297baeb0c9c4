"""What a plan says of its accuracy is what the benchmark counted on its held-out half, and no more."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import outlive
from benchmarks.plan_accuracy import RESOLVERS, is_held_out
from outlive import demo_models
from outlive.arena import budget
from outlive.arena.plan import Bound

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "plan_accuracy.json"


def held_out(accelerator: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(RESULTS.read_text())["rows"]
    return [
        row
        for row in rows
        if is_held_out(row["model"].split(" at ")[0]) and row["accelerator"] == accelerator
    ]


@pytest.mark.parametrize("accelerator", RESOLVERS)
def test_the_counts_in_the_package_are_those_of_the_benchmark(accelerator: str) -> None:
    assert json.loads(budget.PATH.read_text())[accelerator] == budget.tally(held_out(accelerator))
    assert all(row["held_out"] for row in held_out(accelerator))


@pytest.mark.parametrize("bound", budget.SAID)
@pytest.mark.parametrize("accelerator", ["cpu", "builtin", "reference"])
def test_the_sentence_is_not_stronger_than_the_counts(accelerator: str, bound: Bound) -> None:
    rows = [row for row in held_out("cpu" if accelerator == "cpu" else "builtin") if row["bound"] == bound]
    errors = [(row["planned_bytes"] - row["measured_bytes"], row["measured_bytes"]) for row in rows]
    large = [error / size for error, size in errors if size >= 5_000_000]
    small = [error for error, size in errors if size < 5_000_000]
    sentence = budget.expected_error(accelerator, bound)
    if not large:
        assert "no plans" in sentence
        return
    share, _, share_small = (int(word) / 100 for word in re.findall(r"(\d+) %", sentence))
    assert share <= sum(abs(error) <= 0.03 for error in large) / len(large)
    assert share_small * len(small) <= sum(abs(error) <= 200_000 for error in small)
    assert f"and {sum(error < -0.03 for error in large)} took more than that" in sentence


def test_plans_are_counted_by_what_they_say_of_themselves() -> None:
    sizes = [(10, 10), (9, 10), (12, 10), (1, 1), (1, 2)]
    rows = [
        {"planned_bytes": planned * 1_000_000, "measured_bytes": measured * 1_000_000, "bound": "upper"}
        for planned, measured in sizes
    ]
    counts = budget.tally([*rows, {**rows[0], "bound": "lower"}])
    assert counts["upper"] == {"large": 3, "large_within": 1, "large_low": 1, "small": 2, "small_within": 1}
    assert (counts["lower"]["large"], counts["estimate"]["large"]) == (1, 0)


def test_the_sentence_stands_in_every_plan_that_is_not_exact() -> None:
    path = demo_models.path("healthy")
    for name in ("cpu", "builtin"):
        plan = outlive.plan(path, accelerator=name)
        assert plan.unknown[-1] == budget.expected_error(name, plan.bound)
        assert not plan.exact
    assert "models of" not in " ".join(
        outlive.plan(demo_models.path("healthy_int8"), accelerator="tflm").unknown
    )
    assert "no plans" in budget.expected_error("gpu", "upper")
