"""Tables for spreadsheets: tensors of a plan, settings side by side, a run over time, who takes what, layers.

One table per file, a header, a row per thing. Names come from a stranger's file: they are escaped, and one
that a spreadsheet would take for a formula gets an apostrophe in front.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from outlive.accelerators import Accelerator, Coverage
from outlive.arena.plan import Placement, Plan, PlannedSetting
from outlive.names import plain_cell, safe
from outlive.process.flight import Flight
from outlive.quant import TensorDrift

_NAME, _LONG_NAME = 400, 2_000
_PLAN = (
    "region", "tensor", "name", "subgraph", "offset_bytes", "size_bytes", "first_op", "last_op",
    "first_op_type", "live_bytes_at_first_op",
)  # fmt: skip
# The columns of tf.lite.experimental.QuantizationDebugger.layer_statistics_dump, in its order.
_LAYERS = (
    "op_name", "tensor_idx", "num_elements", "stddev", "mean_error", "max_abs_error", "mean_squared_error",
    "scale", "zero_point", "tensor_name",
)  # fmt: skip
_SIZES = (
    "peak_bytes", "total_bytes", "arena_bytes", "persistent_bytes", "packed_weights_bytes", "workspace_bytes",
    "dynamic_bytes", "runtime_bytes", "mapped_bytes", "min_arena_bytes",
)  # fmt: skip


def render(result: Any) -> str:
    """The table of a result, by its kind."""
    tables: dict[str, Callable[[Any], str]] = {"plan": plan_csv, "run": run_csv, "delegates": coverage_csv}
    return tables[result.kind](result)


def plan_csv(plan: Plan) -> str:
    """A row for each tensor that has a place, from which operator to which; of a sweep, for each setting."""
    if plan.sweep or plan.compare:
        return settings_csv(plan.sweep or plan.compare)
    rows: list[Sequence[object]] = []
    for place in plan.placements:
        rows.append(_tensor(plan, place, "persistent" if place.persistent else "arena"))
    rows += [_tensor(plan, place, "workspace") for place in plan.workspace_placements]
    rows += [_tensor(plan, place, "called subgraph") for place in plan.called_placements]
    return _table(_PLAN, rows)


def settings_csv(rows: Sequence[PlannedSetting]) -> str:
    """A row for each setting of a sweep or a comparison."""
    names = list(dict.fromkeys(name for row in rows for name in row.setting))
    body = [
        [
            *(_text(row.setting.get(name, "")) for name in names),
            *("" if row.plan is None else getattr(row.plan, size) for size in _SIZES),
            "" if row.verdict is None else row.verdict.word,
            _text(row.problem),
        ]
        for row in rows
    ]
    return _table([*map(_text, names), *_SIZES, "verdict", "problem"], body)


def run_csv(flight: Flight) -> str:
    """A row for each look at the worker's memory; `mark` names the stage that was done at that moment."""
    rows = [
        (point.seconds, point.bytes, point.rss_bytes, _text(point.mark or "")) for point in flight.timeline
    ]
    return _table(("seconds", "private_bytes", "resident_bytes", "mark"), rows)


def coverage_csv(coverage: Coverage) -> str:
    """A row for each operator: its type, and for each accelerator "taken", "left", or why it was refused."""
    tried = [one for one in coverage.accelerators if one.available]
    columns = [taken_by(one, len(coverage.op_types)) for one in tried]
    reasons = [{item.op: item.reason for item in one.refused if item.op is not None} for one in tried]
    rows: list[Sequence[object]] = []
    for op, kind in enumerate(coverage.op_types):
        cells = [_cell(column, op, why.get(op, "")) for column, why in zip(columns, reasons, strict=True)]
        rows.append([op, _text(kind), *cells])
    return _table(["op", "type", *(_text(one.name) for one in tried)], rows)


def drift_csv(rows: Sequence[TensorDrift]) -> str:
    """TensorFlow's table of layers: metrics of each sample, averaged, of the error that is born in each.

    Names are a stranger's: escaped, cut if they are very long, and never a formula.
    """
    return _table(_LAYERS, map(_layer, filter(lambda row: row.per_sample is not None, rows)))


def _layer(row: TensorDrift) -> Sequence[object]:
    found = row.per_sample
    assert found is not None
    return (
        plain_cell(safe(row.op_type, _LONG_NAME)),
        row.index,
        found.num_elements,
        found.stddev,
        found.mean_error,
        found.max_abs_error,
        found.mean_squared_error,
        "" if row.scale is None else row.scale,
        "" if row.zero_point is None else row.zero_point,
        plain_cell(safe(row.name, _LONG_NAME)),
    )


def taken_by(one: Accelerator, ops: int) -> frozenset[int] | None:
    """The operators that it took; None if that is not known."""
    if one.taken is not None:
        return frozenset(one.taken)
    if one.ops_taken is None:
        return None
    return frozenset(range(ops)) if one.ops_taken == ops else frozenset() if one.ops_taken == 0 else None


def _cell(taken: frozenset[int] | None, op: int, reason: str) -> str:
    if taken is None:
        return ""
    if op in taken:
        return "taken"
    return _text(f"refused: {reason}") if reason else "left"


def _tensor(plan: Plan, place: Placement, region: str) -> Sequence[object]:
    op = plan.ops[place.first_op] if 0 <= place.first_op < len(plan.ops) and place.subgraph == 0 else None
    return (
        region,
        place.tensor,
        _text(place.name),
        place.subgraph,
        place.offset_bytes,
        place.size_bytes,
        place.first_op,
        place.last_op,
        "" if op is None else _text(op.type),
        "" if op is None else op.live_bytes,
    )


def _text(words: str) -> str:
    return plain_cell(safe(words, _NAME))


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()
