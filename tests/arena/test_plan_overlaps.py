"""The checker of plans finds planted faults, and nothing where tensors may share."""

from __future__ import annotations

from dataclasses import replace

from outlive.arena.plan import Plan
from tests.arena import builtin_models as models
from tests.arena.builtin_models import floats, planned
from tests.arena.plan_overlaps import overlaps
from tests.interpreter.dropin_models import graph, model, op


def moved(plan: Plan, tensor: int, offset: int) -> Plan:
    """The plan with one tensor elsewhere."""
    placements = tuple(
        replace(place, offset_bytes=offset) if place.tensor == tensor else place for place in plan.placements
    )
    return replace(plan, placements=placements)


def test_a_sound_plan_has_no_fault() -> None:
    plan, read = planned(models.in_place_chain())
    assert overlaps(plan, read) == overlaps(plan) == []


def test_two_live_tensors_on_the_same_bytes_are_found() -> None:
    plan, read = planned(models.in_place_chain())
    faults = overlaps(moved(plan, 1, 64), read)
    assert (0, 1) in [fault.tensors for fault in faults]
    assert "tensors 0 and 1 lie on the same bytes" in faults[0].words


def test_a_tensor_outside_its_arena_is_found() -> None:
    plan, read = planned(models.in_place_chain())
    assert plan.arena_bytes is not None
    (fault,) = overlaps(moved(plan, 5, plan.arena_bytes), read)
    assert fault.tensors == (5,)
    assert "outside an arena" in fault.words


def test_a_persistent_arena_is_checked_by_itself() -> None:
    plan, read = planned(models.dequantized())
    assert overlaps(plan, read) == []
    assert plan.persistent_bytes is not None
    (fault,) = overlaps(moved(plan, 2, plan.persistent_bytes), read)
    assert fault.tensors == (2,)


def test_an_operator_that_may_not_work_in_place_is_found() -> None:
    """RELU over its own input: the offsets are equal, but the runtime never does that."""
    tensors = floats((1, 64), (1, 64), (1, 64), (1, 64))
    plan, read = planned(
        model(["RELU"], graph(tensors, [0], [3], op(0, [0], [1]), op(0, [1], [2]), op(0, [2], [3])))
    )
    at = {place.tensor: place.offset_bytes for place in plan.placements}
    assert overlaps(moved(plan, 2, at[1]), read)


def test_overwriting_what_is_still_read_is_found() -> None:
    """ADD over a tensor that a later operator reads."""
    tensors = floats((1, 64), (1, 64), (1, 64), (1, 64), (1, 64))
    steps = (op(0, [0], [1]), op(1, [1, 0], [2], "Add"), op(1, [2, 1], [3], "Add"), op(0, [3], [4]))
    plan, read = planned(model(["RELU", "ADD"], graph(tensors, [0], [4], *steps)))
    assert overlaps(plan, read) == []
    at = {place.tensor: place.offset_bytes for place in plan.placements}
    assert overlaps(moved(plan, 2, at[1]), read)
    assert overlaps(moved(plan, 2, at[1]))


def test_bytes_left_where_they_are_may_be_read_under_both_names() -> None:
    """RESHAPE, whose input is read again afterwards."""
    tensors = [*floats((1, 64), (1, 64), (1, 64), (1, 64), (1, 64))]
    steps = (
        op(0, [0], [1]),
        op(1, [1], [2], "Reshape", new_shape=[1, 64]),
        op(0, [2], [3]),
        op(2, [1, 3], [4], "Add"),
    )
    plan, read = planned(model(["RELU", "RESHAPE", "ADD"], graph(tensors, [0], [4], *steps)))
    at = {place.tensor: place.offset_bytes for place in plan.placements}
    assert at[1] == at[2]
    assert overlaps(plan, read) == overlaps(plan) == []


def test_called_subgraphs_are_checked_too() -> None:
    plan, read = planned(models.loop())
    body = [place for place in plan.called_placements if place.subgraph == 2]
    crushed = replace(plan, called_placements=tuple(replace(place, offset_bytes=0) for place in body))
    assert overlaps(plan, read) == []
    assert overlaps(crushed, read)
