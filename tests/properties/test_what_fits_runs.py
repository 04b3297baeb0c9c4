"""What a plan calls enough memory is enough: the model runs under that limit, in a real worker."""

from __future__ import annotations

from pathlib import Path

import pytest

import outlive
from outlive import demo_models
from outlive.arena.budget import Budget, weigh

# Of what is planned; the least of them that the verdict calls enough is run, and the next.
SHARES = (0.5, 0.9, 1.0, 1.02, 1.03, 1.05, 1.1, 1.2, 1.5, 2.0, 4.0, 16.0)
TRIED = 2
SMALL = ("healthy", "healthy_int8", "wasteful")
# Whose plan is too low by more than plans may be off: TFLite_Detection_PostProcess sorts on the heap.
WRONG = {"d14c0204_ssd_mobilenet_v1_coco_quant_postprocess_head_layers"}


def enough(plan: outlive.Plan) -> list[int]:
    """Amounts around the planned peak that are called enough."""
    assert plan.peak_bytes is not None
    sizes = [int(share * plan.peak_bytes) + 1 for share in SHARES]
    budgets = [Budget(kind="ram", title="", ram_bytes=size, source="") for size in sizes]
    return [budget.ram_bytes for budget in budgets if weigh(plan, budget).fits]


@pytest.mark.parametrize("accelerator", ["cpu", "builtin", "reference"])
@pytest.mark.parametrize("name", SMALL)
def test_a_model_runs_in_what_its_plan_calls_enough(name: str, accelerator: str) -> None:
    path = demo_models.path(name)
    sizes = enough(outlive.plan(path, accelerator=accelerator))
    assert 0 < len(sizes) < len(SHARES), "all or none would say little"
    for size in sizes[:TRIED]:
        flight = outlive.run(path, accelerator=accelerator, repeat=2, limits=outlive.Limits(memory=size))
        assert not flight.died, f"{size:,} bytes"
        assert not flight.error_type, f"{size:,} bytes: {flight.error_text}"


@pytest.mark.parametrize("accelerator", ["cpu", "builtin"])
def test_corpus_models_run_in_what_their_plans_call_enough(
    corpus_models: tuple[Path, ...], accelerator: str
) -> None:
    """The small ones; the others are a matter of benchmarks/plan_accuracy.py."""
    tried, failed = 0, []
    small = [path for path in corpus_models if path.stat().st_size < 60_000 and path.stem not in WRONG]
    for path in small[::3]:
        try:
            plan = outlive.plan(path, accelerator=accelerator)
        except outlive.OutliveError:
            continue
        if plan.peak_bytes is None or not outlive.run(path, "zeros", accelerator=accelerator).outputs:
            continue
        for size in enough(plan)[:1]:
            tried += 1
            flight = outlive.run(path, "zeros", accelerator=accelerator, limits=outlive.Limits(memory=size))
            if flight.died or flight.error_type:
                failed.append((path.name, size, plan.peak_bytes, flight.error_text[:80]))
    assert tried >= 8
    assert not failed
