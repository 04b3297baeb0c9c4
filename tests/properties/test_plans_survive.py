"""Whatever a readable file says, every planner gives a plan: no error, no negative size, no overlap."""

from __future__ import annotations

from functools import cache

import pytest

import outlive
from outlive.arena.builtin.planning import plan_builtin
from outlive.arena.plan import Plan, Question
from outlive.arena.tflm.planning import plan_tflm
from outlive.arena.xnnpack.planning import plan_xnnpack
from outlive.model import Model
from tests.arena.plan_overlaps import overlaps
from tests.properties.mutations import Mutator
from tests.properties.specimens import specimens
from tests.repetition import repeats, rounds

pytestmark = repeats
MUTANTS, BATCH = rounds(1000, soak=20_000), 500
PLANNERS = {"builtin": plan_builtin, "cpu": plan_xnnpack, "tflm": plan_tflm}


@cache
def mutator() -> Mutator:
    return Mutator(specimens())


def read_or_none(seed: int) -> Model | None:
    try:
        return outlive.read(mutator().mutant(seed).data)
    except outlive.ModelError:
        return None


def problems(plan: Plan) -> list[str]:
    sizes = (plan.arena_bytes, plan.persistent_bytes, plan.peak_bytes, plan.min_arena_bytes)
    found = [f"a size of {size}" for size in sizes if size is not None and size < 0]
    return found + ([fault.words for fault in overlaps(plan)] if plan.exact else [])


@pytest.mark.parametrize("start", range(0, MUTANTS, BATCH))
def test_a_damaged_model_is_planned(start: int) -> None:
    planned = 0
    for seed in range(start, start + BATCH):
        model = read_or_none(seed)
        for name, planner in PLANNERS.items() if model is not None else ():
            try:
                plan = planner(model, Question(accelerator=name))
            except Exception as error:
                pytest.fail(f"mutant {seed}, {name}: {error!r}")
            assert not problems(plan), f"mutant {seed}, {name}"
            planned += 1
    assert planned > BATCH // 10  # otherwise this tests nothing
