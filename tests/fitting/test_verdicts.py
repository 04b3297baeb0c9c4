"""What would fit, and what cannot: ways that were planned, the limit of this process, runs without hope."""

from __future__ import annotations

from typing import Any

import pytest

import outlive
from outlive import demo_models
from outlive.arena.budget import Budget, needed_bytes
from outlive.arena.questions import PlanRequest
from outlive.interpreter import tflm_benchmark as micro
from outlive.meter import MachineMemory
from outlive.planning import planner as with_worker
from outlive.planning.planner import plan_model, prepare_with
from outlive.planning.verdicts import (
    find_ways,
    here_budget,
    hopeless,
    judge_fit,
    judge_plan,
    options_of,
)

GIB = 2**30
BIG = outlive.read(demo_models.path("too_big"))
HEALTHY = outlive.read(demo_models.path("healthy_int8"))


def ram(size: int) -> Budget:
    return Budget(kind="ram", title="the RAM granted", ram_bytes=size, source="--ram")


def machine(**changes: Any) -> MachineMemory:
    usual: dict[str, Any] = {
        "total_bytes": 16 * GIB,
        "available_bytes": 3 * GIB,
        "swap_total_bytes": 2 * GIB,
        "swap_free_bytes": 2 * GIB,
    }
    return MachineMemory(**{**usual, **changes})


def test_here_is_the_tightest_limit_and_not_what_is_free() -> None:
    plain = here_budget(machine())
    assert (plain.ram_bytes, plain.free_bytes) == (16 * GIB, 3 * GIB)
    assert "RAM" in plain.source
    assert "2.00 GiB of swap are not counted" in plain.source
    boxed = here_budget(machine(cgroup_limit_bytes=GIB, cgroup_used_bytes=GIB // 4, container="docker"))
    assert (boxed.ram_bytes, boxed.free_bytes) == (GIB, GIB * 3 // 4)
    assert "cgroup" in boxed.source
    assert "docker" in boxed.source
    limited = here_budget(machine(rlimit_as_bytes=GIB // 2))
    assert limited.ram_bytes == GIB // 2


def test_a_system_that_says_nothing_is_asked_for_a_number() -> None:
    with pytest.raises(ValueError, match="--ram"):
        here_budget(machine(total_bytes=None, available_bytes=None))


@pytest.mark.parametrize("accelerator", ["cpu", "builtin"])
def test_every_way_that_is_told_fits_when_it_is_planned_again(accelerator: str) -> None:
    wish, budget = PlanRequest(accelerator=accelerator, batch=2), ram(200_000_000)
    ways = find_ways(BIG, wish, budget, prepare_with(BIG, wish))
    assert ways
    assert all(way.needed_bytes <= budget.ram_bytes for way in ways)
    assert ways[-1].changes_results


def test_a_verdict_that_fits_looks_for_no_other_way() -> None:
    wish = PlanRequest(accelerator="builtin")
    verdict = judge_fit(HEALTHY, wish, plan_model(HEALTHY, wish), ram(GIB))
    assert (verdict.word, verdict.ways) == ("fits", ())


def test_the_words_of_a_wish_ask_for_it_again() -> None:
    wish = PlanRequest(
        accelerator="builtin", inputs={"a b": (1, 2)}, batch=3, threads=2, preserve_all_tensors=True
    )
    assert options_of(wish) == (
        *("--accelerator", "builtin"),
        *("--input", "a b=1x2"),
        *("--batch", "3"),
        *("--threads", "2"),
        "--preserve-all-tensors",
    )
    assert options_of(PlanRequest()) == ()


def test_a_run_without_hope_is_known_before_it_starts() -> None:
    finding = hopeless(BIG, PlanRequest(accelerator="builtin"), 100_000_000)
    assert finding is not None
    assert finding.code == "M205"
    assert hopeless(BIG, PlanRequest(accelerator="builtin"), 2 * GIB) is None
    assert hopeless(HEALTHY, PlanRequest(), 100_000_000) is None


def test_rules_on_plans_do_not_need_a_verdict() -> None:
    plan = plan_model(BIG, PlanRequest(accelerator="builtin"))
    assert [finding.code for finding in judge_plan(plan)] == ["M204"]
    assert needed_bytes(plan) == plan.peak_bytes


def test_micro_is_measured_beside_the_plan_of_its_own_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """The figures a wasm32 build prints are those of the plan for just that build."""
    wish = PlanRequest(accelerator="tflm")
    seen = micro.MicroMeasure(
        arena_bytes=65_536, persistent_bytes=1, tflm_commit="a" * 40, mcufit_version="0.5"
    )
    monkeypatch.setattr(micro, "measure_micro", lambda model: seen)
    measured = plan_model(HEALTHY, wish, measuring=True).measured
    assert measured is not None
    assert [row["stage"] for row in measured["stages"]] == ["head", "tail"]
    assert measured["difference_bytes"] < 0
    assert "wrong" in measured["explanation"][0]


def test_micro_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = micro.NotMeasured(reason="it is not installed", remedy="pip install it")
    monkeypatch.setattr(micro, "measure_micro", lambda model: missing)
    measured = plan_model(HEALTHY, PlanRequest(accelerator="tflm"), measuring=True).measured
    assert measured is not None
    assert measured["problem"] == "it is not installed; pip install it"
    resized = plan_model(HEALTHY, PlanRequest(accelerator="tflm", batch=2), measuring=True).measured
    assert resized is not None
    assert "cannot resize" in resized["problem"]


def test_a_model_without_a_file_is_handed_over_as_bytes() -> None:
    data = demo_models.path("healthy").read_bytes()
    assert with_worker.for_worker(outlive.read(data)) == data
    assert with_worker.for_worker(HEALTHY) == str(demo_models.path("healthy_int8"))
