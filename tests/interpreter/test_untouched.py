"""Outputs that a run never writes are told from those it does, whatever is in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flatbuffers import flexbuffers

import outlive
from outlive import demo_models
from outlive.interpreter.recorded_run import can_watch, untouched_bytes
from outlive.surgery import write
from tests.rules.small import Tree, graph, operator, tensor, tree

FIRST, SECOND = (0x5A, 0xC3)  # what glibc fills memory with when it hands it out, in the first and second run


def filled(byte: int, *values: int) -> np.ndarray[Any, Any]:
    return np.array([*values, byte, byte], np.uint8)


def test_bytes_that_hold_the_filling_in_both_runs_were_not_written() -> None:
    assert untouched_bytes(filled(FIRST, 1, 2), filled(SECOND, 1, 2)) == 2
    assert untouched_bytes(filled(FIRST), filled(SECOND)) == 2


def test_bytes_that_are_the_same_in_both_runs_were_written() -> None:
    assert untouched_bytes(filled(FIRST, 1, 2), filled(FIRST, 1, 2)) == 0


def test_random_numbers_are_no_reason_for_a_verdict() -> None:
    assert untouched_bytes(filled(FIRST, 1), filled(SECOND, 7)) == 0


def test_outputs_of_another_shape_are_not_compared() -> None:
    assert untouched_bytes(filled(FIRST, 1), filled(SECOND)) is None


def detector() -> Tree:
    """Two anchors, one class, room for three detections: with scores of 0 there are none."""
    build = flexbuffers.Builder()
    with build.Map():
        for key, value in (("max_detections", 3), ("max_classes_per_detection", 1), ("num_classes", 1)):
            build.Int(key, value)
        for key in ("y_scale", "x_scale", "h_scale", "w_scale"):
            build.Float(key, 1.0)
        build.Float("nms_score_threshold", 0.5)
        build.Float("nms_iou_threshold", 0.5)
    step = operator("TFLite_Detection_PostProcess", [0, 1, 2], [3, 4, 5, 6])
    step |= {"custom_options": list(build.Finish())}
    rows = [
        tensor("boxes", [1, 2, 4]),
        tensor("scores", [1, 2, 2]),
        tensor("anchors", [2, 4], buffer=1),
        tensor("found", [1, 3, 4]),
        tensor("classes", [1, 3]),
        tensor("sure", [1, 3]),
        tensor("count", [1]),
    ]
    return tree(graph(rows, [step], [0, 1], [3, 4, 5, 6]), buffers=[np.ones((2, 4), np.float32)])


@pytest.mark.skipif(not can_watch(), reason="memory can be filled beforehand with glibc only")
def test_a_detector_that_finds_nothing_leaves_its_outputs_alone() -> None:
    model = write(detector())
    flight = outlive.run(model, "zeros", watch_outputs=True)
    assert {seen.name: seen.untouched_bytes for seen in flight.outputs} == {
        "found": 48, "classes": 12, "sure": 12, "count": 0,
    }  # fmt: skip
    given = {"boxes": np.zeros((1, 2, 4), np.float32), "scores": np.ones((1, 2, 2), np.float32)}
    flight = outlive.run(model, given, watch_outputs=True)
    left = {seen.name: seen.untouched_bytes for seen in flight.outputs}
    assert left["found"] is not None
    assert left["found"] < 48
    assert flight.values["count"] > 0


@pytest.mark.skipif(not can_watch(), reason="memory can be filled beforehand with glibc only")
@pytest.mark.parametrize("accelerator", ["cpu", "builtin"])
def test_a_healthy_model_writes_all_it_has(accelerator: str) -> None:
    flight = outlive.run(demo_models.path("healthy"), accelerator=accelerator, watch_outputs=True)
    assert [seen.untouched_bytes for seen in flight.outputs] == [0]


def test_a_deadly_model_dies_when_it_is_watched_too() -> None:
    flight = outlive.run(demo_models.path("deadly"), watch_outputs=True)
    assert (flight.died, flight.signal) == (True, "SIGSEGV")


def test_nobody_looks_unless_asked() -> None:
    flight = outlive.run(demo_models.path("healthy"))
    assert [seen.untouched_bytes for seen in flight.outputs] == [None]
    assert "untouched_bytes" not in flight.to_json()["outputs"][0]


def test_real_numbers_are_not_bytes_as_they_are() -> None:
    with pytest.raises(ValueError, match="dequantize"):
        outlive.run(demo_models.path("healthy_int8"), watch_outputs=True, dequantize=True)
