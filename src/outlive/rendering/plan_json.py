"""A plan as a JSON document: the names of the contract, and what is beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outlive.arena.budget import Budget, Verdict
from outlive.arena.devices import Device
from outlive.arena.plan import Plan
from outlive.arena.stages import predict_stages
from outlive.finding import Finding
from outlive.rendering.document import Json, document, finding_json

_SIZES = (
    "arena_bytes",
    "persistent_bytes",
    "packed_weights_bytes",
    "workspace_bytes",
    "dynamic_bytes",
    "mapped_bytes",
    "runtime_bytes",
    "peak_bytes",
    "total_bytes",
    "min_arena_bytes",
    "lower_bound_bytes",
)


def plan_json(
    plan: Plan,
    verdict: Verdict | None = None,
    findings: Sequence[Finding] = (),
    tables: Mapping[str, Sequence[Json]] | None = None,
) -> Json:
    """The document `plan`. `tables` holds the rows of a sweep or a comparison, by its name."""
    body: Json = {
        "model": {"path": plan.path, "sha256": plan.sha256, "file_bytes": plan.file_bytes},
        "accelerator": plan.accelerator,
        "inputs": [
            {"name": name, "shape": list(shape), "dtype": dtype} for name, shape, dtype in plan.inputs
        ],
        **{name: getattr(plan, name) for name in _SIZES},
        "parts": [_fields(part) for part in plan.parts],
        "placements": [_fields(place) for place in plan.placements],
        "called_placements": [_fields(place) for place in plan.called_placements],
        "workspace_placements": [_fields(place) for place in plan.workspace_placements],
        "ops": [_fields(load) for load in plan.ops],
        "exact": plan.exact,
        "bound": plan.bound,
        "unknown": list(plan.unknown),
        "assumed": list(plan.assumed),
        "refusals": [_fields(refusal) for refusal in plan.refusals],
        "unshared": [
            {"tensor": tensor, "name": name, "size_bytes": size, "reason": reason}
            for tensor, name, size, reason in plan.unshared
        ],
        "stages": [_fields(stage) for stage in predict_stages(plan)],
        "measured": None if plan.measured is None else dict(plan.measured),
        "verdict": None if verdict is None else verdict_json(verdict),
        **(tables or {}),
        "findings": [finding_json(item) for item in findings],
    }
    return document("plan", body)


def row_json(setting: Mapping[str, str], plan: Plan | None, verdict: Verdict | None, problem: str) -> Json:
    """One row of a sweep or a comparison: the setting, and the sizes, or why there are none."""
    sizes = {name: None if plan is None else getattr(plan, name) for name in _SIZES}
    return {
        "setting": dict(setting),
        "accelerator": None if plan is None else plan.accelerator,
        **sizes,
        "exact": None if plan is None else plan.exact,
        "bound": None if plan is None else plan.bound,
        "verdict": None if verdict is None else verdict.word,
        "problem": problem,
    }


def verdict_json(verdict: Verdict) -> Json:
    """Whether it fits, and against what."""
    return {
        "word": verdict.word,
        "needed_bytes": verdict.needed_bytes,
        "margin_bytes": verdict.margin_bytes,
        "flash_margin_bytes": verdict.flash_margin_bytes,
        "reasons": list(verdict.reasons),
        "budget": _budget(verdict.budget),
        "ways": [_fields(way) for way in verdict.ways],
    }


def devices_json(devices: Sequence[Device]) -> Json:
    """The document `devices`."""
    return document("devices", {"devices": [_fields(device) for device in devices]})


def _budget(budget: Budget) -> Json:
    return {
        "kind": budget.kind,
        "title": budget.title,
        "ram_bytes": budget.ram_bytes,
        "flash_bytes": budget.flash_bytes,
        "free_bytes": budget.free_bytes,
        "source": budget.source,
        "device": None if budget.device is None else budget.device.name,
    }


def _fields(value: Any) -> Json:
    return {name: getattr(value, name) for name in value.__slots__}
