"""What a plan for builtin kernels says: parts, lives, what shares, what waits, what is refused."""

from __future__ import annotations

import pytest

from outlive.surgery import write
from tests.against_runtime.arena_truth import Runtime, differences, unplaced
from tests.arena import builtin_models as models
from tests.arena.builtin_models import floats, places, planned
from tests.arena.plan_overlaps import overlaps
from tests.interpreter.dropin_models import graph, model, op


def test_operators_that_work_in_place_share_one_place() -> None:
    plan, read = planned(models.in_place_chain())
    at = places(plan)
    assert at[1].offset_bytes == at[2].offset_bytes == at[3].offset_bytes == at[4].offset_bytes
    assert plan.exact
    assert plan.arena_bytes == 3 * 256  # input, output, and the four that share
    assert [load.live_bytes for load in plan.ops] == [512, 512, 512, 512, 768]
    assert plan.lower_bound_bytes == 512  # the input is free after its reader, the runtime keeps it
    assert overlaps(plan, read) == []


def test_lives_are_told_by_operator() -> None:
    plan, _ = planned(models.in_place_chain())
    lives = {tensor: (place.first_op, place.last_op) for tensor, place in places(plan).items()}
    assert lives == {0: (-1, 5), 1: (0, 1), 2: (1, 2), 3: (2, 3), 4: (3, 4), 5: (4, 5)}


def test_preserved_tensors_share_nothing() -> None:
    plan, read = planned(models.in_place_chain(), preserve_all_tensors=True)
    assert plan.arena_bytes == 6 * 256
    assert {place.last_op for place in plan.placements} == {5}
    assert {reason for *_, reason in plan.unshared} == {"all tensors are preserved"}
    assert overlaps(plan, read) == []


def test_why_tensors_do_not_share() -> None:
    tensors = floats((1, 64), (1, 64), (1, 64), (1, 64), (1, 64))
    steps = (op(0, [0], [1]), op(0, [1], [2]), op(1, [2, 1], [3], "Add"), op(0, [3], [4]))
    plan, _ = planned(model(["RELU", "ADD"], graph(tensors, [0], [4], *steps)))
    reasons = {tensor: reason for tensor, _, _, reason in plan.unshared}
    assert reasons[0] == "an input of the graph: kept through the whole run"
    assert reasons[1] == "op 2 reads it 2 operators after it is made"
    assert reasons[4] == "an output of the graph: kept to the end"
    assert 3 not in reasons  # it lies on tensor 2


def test_an_output_that_nobody_reads_is_kept() -> None:
    tensors = floats((1, 64), (1, 64), (1, 64))
    plan, _ = planned(model(["RELU"], graph(tensors, [0], [2], op(0, [0], [1]), op(0, [0], [2]))))
    assert places(plan)[1].last_op == 2
    assert {t: why for t, _, _, why in plan.unshared}[1].startswith("no operator reads it")


def test_shapes_known_at_prepare_replace_those_of_the_file() -> None:
    plan, _ = planned(models.known_at_prepare())
    at = places(plan)
    assert at[8].size_bytes == at[7].size_bytes == 96
    assert at.keys() == {0, 7, 8}  # SHAPE, STRIDED_SLICE and CONCATENATION live on the heap
    assert plan.dynamic_bytes == 12 + 4 + 8
    assert plan.exact
    assert plan.bound == "upper"
    assert not plan.needs_runtime_shapes


def test_a_dequantized_constant_is_persistent() -> None:
    plan, _ = planned(models.dequantized())
    assert places(plan)[2].persistent
    assert plan.persistent_bytes == 400
    assert plan.arena_bytes == 448 + 400  # the input, aligned, and the output


def test_a_size_that_depends_on_data_is_told() -> None:
    plan, _ = planned(models.waiting())
    assert not plan.exact
    assert plan.bound == "lower"
    assert plan.unknown == (
        "op 0 RANGE: its output's size is known only when it runs; "
        "1 operator behind it as the file's shapes have it",
    )
    assert plan.dynamic_bytes == 16
    assert not plan.needs_runtime_shapes  # the runtime does not know them either before it runs


@pytest.mark.parametrize("rows", [1, 5])
def test_a_size_that_follows_from_the_inputs_is_foreseen(rows: int) -> None:
    plan, _ = planned(models.open_length(), shapes={(0, 0): (rows, 8)})
    assert places(plan)[6].size_bytes == places(plan)[7].size_bytes == 4 * rows * 8
    assert plan.bound == "lower"  # gaps stay where arenas grew
    assert plan.unknown == ()
    assert not plan.exact  # when tensors are allocated, the runtime does not have them yet
    assert "worked out from those of the inputs" in plan.assumed[-1]


def test_called_subgraphs_have_arenas_of_their_own() -> None:
    plan, read = planned(models.loop())
    assert {place.subgraph for place in plan.placements} == {0}
    assert {place.subgraph for place in plan.called_placements} == {1, 2}
    condition = {place.tensor for place in plan.called_placements if place.subgraph == 1}
    assert condition == {0, 3}  # an input nobody reads gets no memory
    body = {place.tensor for place in plan.called_placements if place.subgraph == 2}
    assert body == {3, 4}  # its inputs lie in the caller's memory
    parts = {part.name: part.bytes for part in plan.parts}
    assert parts["called subgraphs"] > 0
    assert plan.peak_bytes == sum(parts.values())
    assert plan.arena_bytes == max(place.end_bytes for place in plan.placements)
    assert overlaps(plan, read) == []


@pytest.mark.parametrize("calls", [(0, 0), (1, 99), (2, 0)])
def test_subgraphs_that_call_in_circles_are_not_followed(calls: tuple[int, int]) -> None:
    plan, _ = planned(models.loop(calls))
    assert not plan.exact
    assert "the subgraphs it calls cannot be planned" in plan.unknown[0]


def test_an_unknown_custom_operator_is_refused() -> None:
    plan, _ = planned(models.custom())
    (refusal,) = plan.refusals
    assert (refusal.op, refusal.type, refusal.missing) == (0, "Mystery", True)
    assert plan.arena_bytes is plan.peak_bytes is None
    assert not plan.exact


def test_given_shapes_are_believed() -> None:
    plan, _ = planned(models.in_place_chain(), shapes={(0, 0): (3, 64), (0, 4): (192,)})
    assert places(plan)[0].size_bytes == places(plan)[1].size_bytes == 768


def test_an_operator_without_a_rule_asks_for_the_runtimes_shapes() -> None:
    tensors = floats((4,), (4,))
    data = model(["SKIP_GRAM"], graph(tensors, [0], [1], op(0, [0], [1])))
    plan, _ = planned(data)
    assert plan.needs_runtime_shapes
    assert not plan.exact
    plan, _ = planned(data, shapes={(0, 0): (4,), (0, 1): (7,)})
    assert not plan.needs_runtime_shapes
    assert places(plan)[1].size_bytes == 28


def test_a_model_without_anything_is_planned_or_refused() -> None:
    empty = {"version": 3, "operator_codes": [], "buffers": [{}]}
    plan, _ = planned(write({**empty, "subgraphs": [graph([], [], [])]}))
    assert plan.arena_bytes == 0
    plan, _ = planned(write({**empty, "subgraphs": []}))
    assert plan.refusals


def test_absurd_shapes_end_in_a_number() -> None:
    huge = 2**31 - 1
    tensors = floats((huge, huge, huge), (huge, huge, huge), (1,))
    steps = op(0, [0], [1]), op(0, [1], [2])
    plan, _ = planned(model(["RELU"], graph(tensors, [0], [2], *steps)))
    assert plan.arena_bytes is not None
    assert plan.arena_bytes >= huge**2


SMALL = {
    "in place": models.in_place_chain,
    "known at prepare": models.known_at_prepare,
    "dequantized": models.dequantized,
    "waiting": models.waiting,
    "loop": models.loop,
}


def test_the_small_models_are_as_the_runtime_has_them() -> None:
    with Runtime() as runtime:
        for name, make in SMALL.items():
            data = make()
            truth = runtime.allocate(data)
            assert not truth.error, (name, truth.error)
            plan, read = planned(data)
            assert differences(plan, read, truth) == [], name
            assert name == "waiting" or unplaced(plan, read, truth) == [], name
