"""When the memory comes: what a plan expects after each stage, and what was measured beside it."""

from collections.abc import Mapping
from typing import Any

from outlive.arena.budget import ERROR_BYTES, ERROR_SHARE
from outlive.arena.plan import Plan, PlanStage
from outlive.units import format_bytes


def set_beside(plan: Plan, measured: Mapping[str, int | None], problem: str = "") -> dict[str, Any]:
    """The measured stages beside the expected ones, with the difference and what explains it."""
    peak = measured.get("peak_bytes")
    # What kernels take for the time of a product is gone after the run: the most that was held counts.
    seen = dict(measured)
    if not plan.transient_bytes:
        seen["invoke_bytes"] = measured.get("invoke_bytes") and peak
    rows = [_row(stage, seen.get(f"{stage.name}_bytes")) for stage in plan.stages]
    difference = None if peak is None or plan.peak_bytes is None else peak - plan.peak_bytes
    return {
        **measured,
        "predicted_peak_bytes": plan.peak_bytes,
        "difference_bytes": difference,
        "stages": rows,
        "explanation": [problem] if problem else _explain(plan, difference, rows[0] if rows else {}),
        "problem": problem,
    }


def set_micro_beside(expected: Plan, head_bytes: int, tail_bytes: int, runtime: str) -> dict[str, Any]:
    """Head and tail as the real TensorFlow Lite Micro reported them, beside a plan for the same build."""
    seen, used = head_bytes + tail_bytes, (expected.arena_bytes or 0) + (expected.persistent_bytes or 0)
    head = PlanStage(name="head", bytes=expected.arena_bytes or 0, why="planned tensors")
    tail = PlanStage(
        name="tail", bytes=expected.persistent_bytes or 0, why="what stays, with what recording it adds"
    )
    exact = seen == used
    return {
        "runtime": runtime,
        "arena_bytes": head_bytes,
        "persistent_bytes": tail_bytes,
        "difference_bytes": seen - used,
        "stages": [_row(head, head_bytes), _row(tail, tail_bytes)],
        "explanation": [
            "equal to the plan of that build, byte for byte"
            if exact
            else "another version of TensorFlow Lite Micro, or a part of the plan that is wrong",
            "measured in wasm32: the sizes above, for the ABI asked for, differ by the layout of structures",
        ],
        "problem": "",
    }


def _row(stage: PlanStage, seen: int | None) -> dict[str, Any]:
    return {
        "stage": stage.name,
        "predicted_bytes": stage.bytes,
        "measured_bytes": seen,
        "difference_bytes": None if seen is None else seen - stage.bytes,
        "why": stage.why,
    }


def _explain(plan: Plan, difference: int | None, load: Mapping[str, Any]) -> list[str]:
    if difference is None or plan.peak_bytes is None:
        return ["nothing was measured"]
    if abs(difference) <= max(ERROR_BYTES, ERROR_SHARE * plan.peak_bytes):
        return ["within what plans may be off by: pages, and how the heap is cut up"]
    if difference < 0:
        said = ["less than planned: pages that the run did not touch were never given"]
    else:
        said = ["more than planned: something takes memory that no part of the plan stands for"]
        early = load.get("difference_bytes") or 0
        if early > difference // 4:
            said.append(f"{format_bytes(early)} of it were there after load: the library's own first use")
    if plan.bound == "lower":
        said.append("the plan is a lower bound")
    return said + [f"not known: {item}" for item in plan.unknown[:5]]
