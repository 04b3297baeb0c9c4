"""Memory that is there for a moment: planned, and never less than what real workers were seen to take."""

from __future__ import annotations

from pathlib import Path

import pytest

import outlive
from outlive.arena.plan import Plan
from outlive.worker.measuring import measure
from tools.build_large_models import Canvas

WIDE, DEEP = 2048, 2048
WEIGHTS_BYTES = 4 * WIDE * DEEP
# Pages, and what the C library keeps in reserve.
SLACK_BYTES = 300_000


def dense(precision: str) -> bytes:
    canvas = Canvas(precision)
    row = canvas.activation([1, DEEP])
    return canvas.finish([row], [canvas.dense(row, WIDE)])


def held(content: bytes, accelerator: str, folder: Path) -> Plan:
    """The plan of a model, once a worker was seen to stay within it."""
    path = folder / "model.tflite"
    path.write_bytes(content)
    plan = outlive.plan(path, accelerator=accelerator)
    measured = measure(path, accelerator=accelerator)
    assert not measured.problem
    assert (measured.peak_bytes or 0) <= (plan.peak_bytes or 0) + SLACK_BYTES
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
