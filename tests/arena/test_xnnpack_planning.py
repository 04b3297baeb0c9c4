"""The plan with XNNPACK as a whole: its parts, what settings change, and files that are out of order."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from outlive.arena.plan import Plan, Question
from outlive.arena.xnnpack.planning import plan_xnnpack
from outlive.kernels.xnnpack.node_memory import instruction_sets
from outlive.model import Model, Subgraph, read_source
from tests.arena.xnnpack_sketches import data, fixed, model, varieties
from tools.build_large_models import mobilenet_v2, transformer
from tools.canvas import Canvas

PARTS = (
    "arena_bytes",
    "persistent_bytes",
    "packed_weights_bytes",
    "workspace_bytes",
    "dynamic_bytes",
    "runtime_bytes",
)


def opened(content: bytes) -> Model:
    found = read_source(content).model
    assert found is not None
    return found


@pytest.fixture(scope="module")
def mobilenet() -> Model:
    return opened(mobilenet_v2(Canvas("float"), 96))


def plan(source: Model, instructions: str = "x86-avx2", **asked: Any) -> Plan:
    return plan_xnnpack(source, Question(**asked), instructions)


def test_the_parts_make_up_the_peak(mobilenet: Model) -> None:
    found = plan(mobilenet)
    assert sum(part.bytes for part in found.parts) == found.peak_bytes
    assert sum(getattr(found, name) for name in PARTS) == found.peak_bytes
    assert found.total_bytes == (found.peak_bytes or 0) + mobilenet.file_bytes
    assert not found.exact
    assert found.bound == "upper"
    assert "x86-avx2" in found.assumed[0]


def test_packed_weights_are_those_of_the_file_and_their_padding(mobilenet: Model) -> None:
    weights = sum(buffer.size_bytes for buffer in mobilenet.buffers)
    packed = plan(mobilenet).packed_weights_bytes or 0
    assert weights < packed < 1.05 * weights


def test_every_operator_of_the_file_has_its_load(mobilenet: Model) -> None:
    found = plan(mobilenet)
    operators = mobilenet.subgraphs[0].operators
    assert sorted(load.index for load in found.ops) == [operator.index for operator in operators]
    assert max(load.live_bytes for load in found.ops) <= (found.workspace_bytes or 0) + (
        found.arena_bytes or 0
    )
    assert all(load.live_bytes > 0 for load in found.ops)


def test_what_stays_in_the_arena_are_inputs_and_outputs(mobilenet: Model) -> None:
    found = plan(mobilenet)
    border = {*mobilenet.subgraphs[0].input_indices, *mobilenet.subgraphs[0].output_indices}
    assert {placement.tensor for placement in found.placements} == border
    assert max(placement.end_bytes for placement in found.placements) == found.arena_bytes


def test_a_weight_cache_moves_packed_weights_to_a_mapped_file(mobilenet: Model) -> None:
    usual, cached = plan(mobilenet), plan(mobilenet, weight_cache=True)
    packed = usual.packed_weights_bytes or 0
    assert cached.packed_weights_bytes == 0
    assert (cached.mapped_bytes or 0) == mobilenet.file_bytes + packed
    assert (usual.peak_bytes or 0) - (cached.peak_bytes or 0) >= packed


def test_larger_inputs_and_more_threads_take_more(mobilenet: Model) -> None:
    image = mobilenet.inputs[0].index
    peaks = [
        plan(mobilenet, shapes={(0, image): (1, size, size, 3)}).peak_bytes or 0
        for size in (64, 96, 192, 384)
    ]
    assert peaks == sorted(peaks)
    assert peaks[3] > 2 * peaks[0]
    assert peaks[1] == plan(mobilenet).peak_bytes
    assert (plan(mobilenet, threads=4).peak_bytes or 0) > peaks[1]
    packed = {
        plan(mobilenet, shapes={(0, image): (1, size, size, 3)}).packed_weights_bytes for size in (64, 384)
    }
    assert len(packed) == 1, "weights do not grow with the image"


@pytest.mark.parametrize("name", instruction_sets())
@pytest.mark.parametrize("precision", ["float", "half", "dynamic", "int8"])
def test_all_instruction_sets_and_precisions_are_planned(name: str, precision: str) -> None:
    found = plan(opened(transformer(Canvas(precision), 64, 16, 1)), name)
    assert found.peak_bytes
    assert found.packed_weights_bytes
    assert name in found.assumed[0]


def test_a_wider_tile_pads_more() -> None:
    """33 output channels are five tiles of 8, three of 16 or two of 32."""
    kernel, offset = fixed("FLOAT32", (33, 3, 3, 8)), fixed("FLOAT32", (33,))
    given = [data("FLOAT32", (1, 8, 8, 8)), kernel, offset]
    content = model("CONV_2D", given, [data("FLOAT32", (1, 8, 8, 33))], "Conv2D", stride_w=1, stride_h=1)
    sizes = {
        name: plan(opened(content), name).packed_weights_bytes
        for name in ("x86-sse4.1", "x86-avx2", "x86-avx512")
    }
    row = (9 * 8 + 1) * 4
    aligned = 11_712  # 40 rows, to the next multiple of 64
    assert sizes == {"x86-sse4.1": aligned, "x86-avx2": 48 * row, "x86-avx512": 64 * row}


def test_an_operator_without_a_kernel_is_a_refusal() -> None:
    source = opened(model("CUSTOM", [data("FLOAT32", (1, 4))], [data("FLOAT32", (1, 4))]))
    found = plan(_renamed(source, "NoSuchOp"))
    assert found.peak_bytes is None
    assert [(refusal.op, refusal.type) for refusal in found.refusals] == [(0, "NoSuchOp")]


def _renamed(source: Model, name: str) -> Model:
    operator = replace(source.subgraphs[0].operators[0], custom_name=name)
    return replace(source, subgraphs=(replace(source.subgraphs[0], operators=(operator,)),))


def _damaged(subgraph: Subgraph, tensor: int, operator: int) -> Subgraph:
    """Indices that lead nowhere, as a broken file has them."""
    first = subgraph.operators[0]
    broken = replace(
        first, inputs=(*first.inputs[:-1], tensor), outputs=first.outputs if operator else (tensor,)
    )
    return replace(subgraph, operators=(broken,))


@pytest.mark.parametrize("tensor", [-1, 10**6])
@pytest.mark.parametrize("operator", [0, 1])
def test_indices_that_lead_nowhere_are_no_exception(tensor: int, operator: int) -> None:
    for name, content in islice(varieties(), operator, None, 5):
        source = opened(content)
        broken = replace(source, subgraphs=(_damaged(source.subgraphs[0], tensor, operator),))
        assert plan(broken).accelerator == "cpu", name


@pytest.mark.parametrize("size", [0, -1, 2**31 - 1])
def test_absurd_shapes_are_no_exception(size: int) -> None:
    for name, content in islice(varieties(), 0, None, 5):
        source = opened(content)
        shapes = {
            (0, tensor.index): (size,) * len(tensor.shape)
            for tensor in source.subgraphs[0].tensors
            if not tensor.is_constant
        }
        assert plan(source, shapes=shapes).accelerator == "cpu", name


def test_a_model_without_subgraphs_is_refused(mobilenet: Model) -> None:
    assert plan(replace(mobilenet, subgraphs=())).refusals


def test_runs_are_told_apart_by_an_operator_in_between() -> None:
    canvas = Canvas("float")
    x = image = canvas.activation([1, 8, 8, 4])
    for kind in ("LOGISTIC", "SIGN", "TANH"):
        x = canvas.single(kind, x)
    found = plan(opened(canvas.finish([image], [x])))
    assert len(found.placements) == 4, "all four tensors lie on a border"
    assert found.workspace_bytes == 0
