"""A plan on a line of time: a millisecond per operator, the bytes alive as a counter, a bar per tensor.

Nothing ran: the time is the order in which operators will run, not how long they will take.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.arena.plan import Placement, Plan
from outlive.names import safe
from outlive.records import Json
from outlive.rendering.media.trace_events import (
    counter,
    lasting,
    moment,
    name_process,
    name_track,
    slice_of,
    trace,
)
from outlive.units import format_bytes

_STEP_US = 1000
_PROCESS, _OPERATORS = 1, 1
_NAME = 120
# More bars than this no viewer shows with pleasure; the largest are kept.
_MOST_TENSORS = 2000


def plan_trace(plan: Plan) -> Json:
    """The document of `outlive plan --format trace`."""
    about = {
        "model": safe(plan.path or "model given as bytes", _NAME),
        "accelerator": plan.accelerator,
        "time": "1 ms stands for one operator; nothing was run",
        "peak_bytes": plan.peak_bytes,
    }
    return trace(_events(plan), about)


def _events(plan: Plan) -> Iterator[Json]:
    yield name_process(_PROCESS, f"plan of {safe(plan.path or 'a model', _NAME)}, {plan.accelerator}")
    yield name_track(_PROCESS, _OPERATORS, "operators, in the order they run")
    for number, load in enumerate(plan.ops, 1):
        start = number * _STEP_US
        args = {"op": load.index, "name": safe(load.name, _NAME), "live_bytes": load.live_bytes}
        title = f"{load.index} {safe(load.type, 60)}"
        yield slice_of(title, "operator", start, start + _STEP_US, _PROCESS, _OPERATORS, args)
        yield counter("bytes alive in the arena", start, _PROCESS, load.live_bytes)
    if plan.ops:
        yield counter("bytes alive in the arena", (len(plan.ops) + 1) * _STEP_US, _PROCESS, 0)
        yield _worst(plan)
    arena = [place for place in plan.placements if place.subgraph == 0]
    for place in sorted(arena, key=lambda item: -item.size_bytes)[:_MOST_TENSORS]:
        yield from _tensor(place, len(plan.ops), "tensor")
    inside = sorted(plan.workspace_placements, key=lambda item: -item.size_bytes)
    for place in inside[:_MOST_TENSORS]:
        yield from _tensor(place, len(plan.ops), "tensor in the workspace")


def _worst(plan: Plan) -> Json:
    place, load = max(enumerate(plan.ops), key=lambda item: item[1].live_bytes)
    title = f"worst moment: {format_bytes(load.live_bytes)}"
    return moment(title, (place + 1) * _STEP_US, _PROCESS, _OPERATORS, {"op": load.index})


def _tensor(place: Placement, ops: int, kind: str) -> tuple[Json, Json]:
    """Alive from before its first operator to after its last."""
    first, last = max(-1, min(place.first_op, ops)), max(-1, min(place.last_op, ops))
    args = {
        "tensor": place.tensor,
        "size_bytes": place.size_bytes,
        "offset_bytes": place.offset_bytes,
        "persistent": place.persistent,
    }
    name = safe(place.name, _NAME) or f"tensor {place.tensor}"
    start, end = (first + 1) * _STEP_US, (last + 2) * _STEP_US
    return lasting(name, kind, start, end, _PROCESS, f"{kind} {place.tensor}", args)
