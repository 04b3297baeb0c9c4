"""Plans of random graphs: byte for byte the runtime's, and sound."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlive.arena.builtin import layout as placing
from outlive.arena.builtin.planning import plan_builtin
from outlive.arena.plan import Question
from outlive.model import read_source
from tests.against_runtime.arena_truth import Runtime, differences, unplaced
from tests.arena import builtin_models as models
from tests.arena.plan_overlaps import overlaps
from tests.interpreter.dropin_models import graph, op
from tests.interpreter.dropin_models import model as model_of
from tests.model.small import tensor
from tests.properties.mutations import Mutator
from tests.properties.random_graphs import graphs
from tests.properties.specimens import specimens
from tests.repetition import repeats, rounds

pytestmark = repeats


@pytest.fixture(scope="module")
def runtime() -> Iterator[Runtime]:
    with Runtime() as opened:
        yield opened


@settings(max_examples=rounds(150, soak=3000))
@given(
    data=graphs(), threads=st.sampled_from([None, 1, 2, 4]), preserve=st.sampled_from([False, False, True])
)
def test_the_plan_is_the_arena(runtime: Runtime, data: bytes, threads: int | None, preserve: bool) -> None:
    truth = runtime.allocate(data, threads=threads, preserve=preserve)
    assert not truth.error
    model = read_source(data).model
    assert model is not None
    question = Question(accelerator="builtin", threads=threads, preserve_all_tensors=preserve)
    plan = plan_builtin(model, question)
    assert plan.exact, plan.unknown
    assert differences(plan, model, truth) == []
    assert unplaced(plan, model, truth) == []
    assert overlaps(plan, model) == []
    assert overlaps(plan) == []


@settings(max_examples=50)
@given(data=graphs())
def test_no_planner_can_do_with_less_than_the_bound(data: bytes) -> None:
    model = read_source(data).model
    assert model is not None
    plan = plan_builtin(model, Question(accelerator="builtin"))
    assert plan.lower_bound_bytes is not None
    assert plan.arena_bytes is not None
    live = max(load.live_bytes for load in plan.ops)
    assert plan.lower_bound_bytes <= live <= plan.arena_bytes


def fan() -> bytes:
    """Thirty tensors of one size made by one operator, read one by one: every offset is decided by a tie."""
    count = 30
    parts = [tensor(f"p{i}", "FLOAT32", [1, 32]) for i in range(count)]
    turned = [tensor(f"r{i}", "FLOAT32", [1, 32]) for i in range(count)]
    ends = [tensor("x", "FLOAT32", [count, 32]), tensor("axis", "INT32", [], buffer=1)]
    last = tensor("y", "FLOAT32", [count, 32])
    made = list(range(2, 2 + count))
    read = list(range(2 + count, 2 + 2 * count))
    steps = [
        op(0, [1, 0], made, "Split", num_splits=count),
        *(op(1, [before], [after]) for before, after in zip(made, read, strict=True)),
        op(2, read, [2 + 2 * count], "Concatenation", axis=0),
    ]
    body = graph([*ends, *parts, *turned, last], [0], [2 + 2 * count], *steps)
    return model_of(["SPLIT", "RELU", "CONCATENATION"], body, buffers=(np.array(0, np.int32),))


def stable(items: list[int], ranks: list[int]) -> list[int]:
    return [item for _, item in sorted(zip(ranks, items, strict=True), key=lambda pair: pair[0])]


@pytest.mark.parametrize(("name", "fault"), [("sorted_as_library", stable), ("walked", list)])
def test_a_planner_with_a_fault_is_caught(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, name: str, fault: Any
) -> None:
    data = fan()
    truth = runtime.allocate(data)
    model = read_source(data).model
    assert model is not None
    question = Question(accelerator="builtin")
    assert differences(plan_builtin(model, question), model, truth) == []
    monkeypatch.setattr(placing, name, fault)
    assert differences(plan_builtin(model, question), model, truth) != []


MUTANTS = rounds(200, soak=5000)


def test_a_damaged_model_is_planned_or_refused() -> None:
    """Whatever the bytes, a plan ends in numbers that hold together, or in a refusal."""
    healthy = (
        *specimens(),
        models.in_place_chain(),
        models.known_at_prepare(),
        models.loop(),
        models.waiting(),
    )
    mutator = Mutator(healthy)
    planned = 0
    for seed in range(MUTANTS):
        damaged = mutator.mutant(seed)
        model = read_source(damaged.data).model
        if model is None:
            continue
        try:
            plan = plan_builtin(model, Question(accelerator="builtin"))
            overlaps(plan, model)
        except Exception as error:
            pytest.fail(f"mutant {seed}: {', '.join(damaged.how)}: {error!r}")
        planned += not plan.refusals
        ends = max((place.end_bytes for place in plan.placements if not place.persistent), default=0)
        assert plan.refusals or plan.arena_bytes == ends
    assert planned > MUTANTS / 4
