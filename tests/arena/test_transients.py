"""Memory that comes when a model is prepared or run: planned, and real workers are seen to stay within it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from flatbuffers import flexbuffers

import outlive
from outlive.arena.budget import error_bytes
from outlive.arena.builtin import page_usage as eigen
from outlive.arena.builtin.page_usage import RuyArena, block_bytes
from outlive.arena.glibc_heap import GlibcHeap
from outlive.arena.plan import Plan
from outlive.interpreter.recorded_run import measure
from outlive.model import read_source
from tests.arena import builtin_models
from tests.arena.tflm_models import scaled
from tests.interpreter.dropin_models import graph, model, op
from tests.model.small import tensor
from tools.build_large_models import Canvas

WIDE, DEEP = 2048, 2048
WEIGHTS_BYTES = 4 * WIDE * DEEP
BOXES = 4000
# Pages, and what the C library keeps in reserve.
SLACK_BYTES = 300_000


def dense(precision: str) -> bytes:
    canvas = Canvas(precision)
    row = canvas.activation([1, DEEP])
    return canvas.finish([row], [canvas.dense(row, WIDE)])


def held(content: bytes, accelerator: str, folder: Path, slack_bytes: int = SLACK_BYTES) -> Plan:
    """The plan of a model, once a worker was seen to stay within it."""
    path = folder / "model.tflite"
    path.write_bytes(content)
    plan = outlive.plan(path, accelerator=accelerator)
    measured = measure(path, accelerator=accelerator)
    assert not measured.problem
    assert (measured.peak_bytes or 0) <= (plan.peak_bytes or 0) + slack_bytes
    return plan


def test_float16_weights_are_there_as_float32_while_they_are_packed(tmp_path: Path) -> None:
    plan = held(dense("half"), "cpu", tmp_path)
    assert plan.transient_bytes == pytest.approx(WEIGHTS_BYTES, rel=0.02)
    assert plan.bound == "upper"
    assert sum(part.bytes for part in plan.parts) == plan.peak_bytes
    after = outlive.plan(dense("float"), accelerator="cpu")
    assert after.transient_bytes == 0
    assert plan.peak_bytes == pytest.approx((after.peak_bytes or 0) + WEIGHTS_BYTES, rel=0.02)


def test_the_moment_belongs_to_allocate_and_not_to_the_run(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(dense("half"))
    plan = outlive.plan(path, accelerator="cpu", measure=True)
    assert plan.measured is not None
    invoke = plan.measured["stages"][-1]
    assert invoke["predicted_bytes"] == (plan.peak_bytes or 0) - plan.transient_bytes
    assert abs(invoke["difference_bytes"]) < SLACK_BYTES


def test_builtin_kernels_copy_what_they_dequantize(tmp_path: Path) -> None:
    plan = held(dense("half"), "builtin", tmp_path)
    assert plan.persistent_bytes == pytest.approx(WEIGHTS_BYTES, rel=0.01)
    assert plan.workspace_bytes == pytest.approx(WEIGHTS_BYTES / 2, rel=0.01)


def int4() -> bytes:
    """A dense layer of floats whose weights have 4 bits, and a scale for each row."""
    tensors = [
        tensor("x", "FLOAT32", [16, DEEP]),
        tensor("w", "INT4", [WIDE, DEEP], buffer=1, **scaled([0.1] * WIDE)),
        tensor("y", "FLOAT32", [16, WIDE]),
    ]
    layer = op(0, [0, 1, -1], [2], "FullyConnected")
    return model(
        ["FULLY_CONNECTED"], graph(tensors, [0], [2], layer), buffers=(np.ones(WIDE * DEEP // 2, np.int8),)
    )


def test_weights_of_4_bits_are_packed_when_the_model_first_runs(tmp_path: Path) -> None:
    plan = held(int4(), "builtin", tmp_path)
    assert plan.packed_weights_bytes == pytest.approx(WIDE * DEEP / 2, abs=64)


def blockwise() -> bytes:
    """The same with a scale of 16 bits for each 32 weights."""
    blocks = {"scales": 3, "zero_points": -1, "block_size": 32}
    held = {"details_type": "BlockwiseQuantization", "details": blocks}
    tensors = [
        tensor("x", "FLOAT32", [16, DEEP]),
        tensor("w", "INT4", [WIDE, DEEP], buffer=1, quantization=held),
        tensor("y", "FLOAT32", [16, WIDE]),
        tensor("s", "FLOAT16", [WIDE, DEEP // 32], buffer=2),
    ]
    layer = op(0, [0, 1, -1], [2], "FullyConnected")
    buffers = np.ones(WIDE * DEEP // 2, np.int8), np.ones((WIDE, DEEP // 32), np.float16)
    return model(["FULLY_CONNECTED"], graph(tensors, [0], [2], layer), buffers=buffers)


def test_weights_with_scales_of_blocks_are_not_unpacked(tmp_path: Path) -> None:
    plan = held(blockwise(), "builtin", tmp_path)
    assert plan.workspace_bytes == pytest.approx(4 * WIDE * DEEP / 32 + 16 * DEEP, abs=16_384)
    arena = next(part.bytes for part in plan.parts if part.name == "arena")
    assert (plan.arena_bytes or 0) - arena >= 4 * 16 * WIDE, "sums of products have room that nobody uses"


def test_arrays_of_tensors_grow_while_open_shapes_are_prepared() -> None:
    content = builtin_models.open_length()
    plan = outlive.plan(content, accelerator="builtin", inputs={"x": (4, 8)})
    fixed = outlive.plan(dense("float"), accelerator="builtin")
    tensors = len(read_source(content).model.subgraphs[0].tensors)  # type: ignore[union-attr]
    assert plan.runtime_bytes - 700 * tensors > fixed.runtime_bytes - 700 * 4


def convolution_3d(side: int = 24, layers: int = 1) -> bytes:
    """Convolutions of 8 frames, 8 channels in and out."""
    tensors = [
        *(tensor(f"x{layer}", "FLOAT32", [1, 8, side, side, 8]) for layer in range(layers + 1)),
        tensor("w", "FLOAT32", [3, 3, 3, 8, 8], buffer=1),
    ]
    sides = {f"stride_{side}": 1 for side in "dhw"} | {f"dilation_{side}_factor": 1 for side in "dhw"}
    steps = (
        op(0, [layer, layers + 1], [layer + 1], "Conv3D", padding="SAME", **sides) for layer in range(layers)
    )
    main = graph(tensors, [0], [layers], *steps)
    return model(["CONV_3D"], main, buffers=(np.ones((3, 3, 3, 8, 8), np.float32),))


@pytest.mark.parametrize("accelerator", ["builtin", "cpu"])
def test_the_columns_of_a_3d_convolution_are_packed_as_a_whole(accelerator: str, tmp_path: Path) -> None:
    plan = held(convolution_3d(), accelerator, tmp_path)
    columns = 4 * (8 * 24 * 24) * (27 * 8)
    assert plan.arena_bytes > columns
    assert plan.peak_bytes > 2 * columns


# Rows of weights, depth, columns of data: what malloc was asked for, on a core with caches of 48 KiB, 1 MiB.
SEEN = {
    (1536, 384, 512): (479_296, 786_496),
    (384, 384, 512): (294_976, 786_496),
    (384, 1536, 512): (1_192_000, 533_952),
    (3072, 1024, 64): (6_389_824, 133_184),
    (1024, 3072, 64): (3_178_560, 198_720),
}


@pytest.mark.parametrize("sides", SEEN)
def test_eigen_packs_the_blocks_it_was_seen_to_ask_for(
    sides: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eigen, "first_cache_bytes", lambda: 48 << 10)
    monkeypatch.setattr(eigen, "second_cache_bytes", lambda: 1 << 20)
    assert block_bytes(*sides) == SEEN[sides]


def test_ruy_grows_by_what_did_not_fit_and_keeps_it() -> None:
    room = RuyArena(GlibcHeap())
    first = packed(room, (1_000_000, 500_000))
    assert first == pytest.approx(packed(room, (1_000_000, 500_000)), abs=8192), "in one piece now"
    # The small operand finds room, the large one does not.
    assert packed(room, (2_000_000, 500_000)) == pytest.approx(first + 2_000_000, abs=8192)
    assert room.reserved_bytes == pytest.approx(3_500_000, abs=256)


def packed(room: RuyArena, pieces: tuple[int, ...]) -> int:
    """Bytes that are there while a product is computed."""
    room.pack(pieces)
    there = room.heap.resident_bytes
    room.release()
    return there


def test_small_pieces_of_ruy_leave_gaps_behind() -> None:
    """What a MobileNet of int8 was seen to ask for: no gap fits the room that replaces it, for it grows."""
    room = RuyArena(GlibcHeap())
    for pieces in ((65_536, 9_216), (65_536, 9_216, 9_216), (169_984,), (308_224,)):
        most = packed(room, pieces)
    assert most > 308_224 + 169_984 + 2 * 65_536


def int16_tower() -> bytes:
    """Convolutions of int16, which XNNPACK does not take."""
    canvas = Canvas("int16x8")
    image = x = canvas.activation([1, 8, 8, 16])
    for _ in range(40):
        x = canvas.conv(x, 256)
        x = canvas.conv(x, 16)
    return canvas.finish([image], [x])


def detector(kind: str, *, regular: bool) -> bytes:
    """SSD post-processing of 4000 boxes and 91 classes."""
    options = {"max_detections": 10, "max_classes_per_detection": 1, "num_classes": 90}
    options |= {f"{axis}_scale": 5.0 for axis in "hwxy"}
    options |= {"nms_iou_threshold": 0.5, "nms_score_threshold": 0.1, "use_regular_nms": regular}
    low = {} if kind == "FLOAT32" else {"quantization": {"scale": [0.1], "zero_point": [0]}}
    tensors = [
        tensor("boxes", kind, [1, BOXES, 4], **low),
        tensor("scores", kind, [1, BOXES, 91], **low),
        tensor("anchors", kind, [BOXES, 4], buffer=1, **low),
        *(
            tensor(name, "FLOAT32", shape)
            for name, shape in zip("bcsn", ([1, 10, 4], [1, 10], [1, 10], [1]), strict=True)
        ),
    ]
    step = op(0, [0, 1, 2], [3, 4, 5, 6]) | {"custom_options": list(flexbuffers.Dumps(options))}
    anchors = np.ones((BOXES, 4), np.float32 if kind == "FLOAT32" else np.uint8)
    main = graph(tensors, [0, 1], [3, 4, 5, 6], step)
    codes = [{"builtin_code": "CUSTOM", "custom_code": "TFLite_Detection_PostProcess"}]
    return model([], main, buffers=(anchors,), operator_codes=codes)


@pytest.mark.parametrize("regular", [False, True])
@pytest.mark.parametrize("kind", ["FLOAT32", "UINT8"])
def test_boxes_are_put_in_order_on_the_heap(kind: str, regular: bool, tmp_path: Path) -> None:
    plan = held(detector(kind, regular=regular), "builtin", tmp_path)
    classes = 4 * BOXES * 91
    assert (plan.workspace_bytes or 0) >= (0 if regular else 4 * BOXES * 90)
    arena = next(part for part in plan.parts if part.name == "arena")
    # Scores that are floats already are not copied, though there is room for them.
    assert (plan.arena_bytes or 0) - arena.bytes == pytest.approx(
        classes if kind == "FLOAT32" else 0, abs=16_384
    )


@pytest.mark.parametrize("accelerator", ["builtin", "cpu"])
def test_open_shapes_are_foreseen(accelerator: str, tmp_path: Path) -> None:
    """The arena of a later stage replaces that of the first, which is copied: both are there for a moment."""
    path = tmp_path / "model.tflite"
    path.write_bytes(builtin_models.open_length())
    shape = (400_000, 8)
    plan = outlive.plan(path, accelerator=accelerator, inputs={"x": shape})
    measured = measure(path, accelerator=accelerator, shapes={0: shape})
    assert not measured.problem
    assert (measured.peak_bytes or 0) <= (plan.peak_bytes or 0) + SLACK_BYTES
    assert (plan.peak_bytes or 0) > 2 * 4 * 400_000 * 8


def test_what_nobody_writes_to_is_not_counted(tmp_path: Path) -> None:
    """BATCH_MATMUL reserves both sides transposed, and turns round the right one alone."""
    shape = [8, 256, 256]
    tensors = [tensor(name, "FLOAT32", shape) for name in ("x", "w", "y")]
    layer = op(0, [0, 1], [2], "BatchMatMul")
    plan = held(model(["BATCH_MATMUL"], graph(tensors, [0, 1], [2], layer)), "builtin", tmp_path)
    assert plan.arena_bytes == 5 * 4 * 8 * 256 * 256
    arena = next(part for part in plan.parts if part.name == "arena")
    assert arena.bytes == plan.arena_bytes * 4 / 5
    assert "reserved" in arena.source


@pytest.mark.parametrize("accelerator", ["builtin", "cpu"])
def test_a_loop_that_fills_a_list_holds_its_weights_and_its_slices(accelerator: str, tmp_path: Path) -> None:
    """Tensors that are placed again from round to round come to lie behind those that are persistent."""
    width = 1024
    plan = held(builtin_models.list_loop(width), accelerator, tmp_path, slack_bytes=1_000_000)
    assert plan.bound == "lower"
    weights, rows = 4 * width * width, 4 * 32 * width
    assert (plan.dynamic_bytes or 0) >= 4 * rows  # the value, the slice behind, the one before twice
    called = next(part.bytes for part in plan.parts if part.name == "called subgraphs")
    assert called >= rows + (weights if accelerator == "builtin" else 0)
    if accelerator == "builtin":
        assert (plan.peak_bytes or 0) > 2 * weights


def test_kernels_beside_a_delegate_keep_their_multipliers(tmp_path: Path) -> None:
    """A model that XNNPACK leaves alone takes what it takes without it."""
    content = int16_tower()
    plan, plain = held(content, "cpu", tmp_path), held(content, "builtin", tmp_path)
    assert plan.runtime_bytes == pytest.approx(plain.runtime_bytes, rel=0.1)


def test_a_model_runs_in_memory_that_its_plan_calls_enough(tmp_path: Path) -> None:
    """Ruy reserves its next room before it frees what it had: the limit on data is twice as far."""
    path = tmp_path / "model.tflite"
    path.write_bytes(convolution_3d(128, layers=2))
    plan = outlive.plan(path, accelerator="builtin")
    enough = (plan.peak_bytes or 0) + (error_bytes(plan) or 0)
    flight = outlive.run(path, "ones", accelerator="builtin", limits=outlive.Limits(memory=enough))
    assert not flight.died
    assert not flight.error_type
    assert flight.limits["data_bytes"] >= 2 * enough
