"""A quantization debugger: the layers that lose most, by the error that each has in steps of its scale."""

from __future__ import annotations

from typing import Any

from outlive.names import safe
from outlive.rendering import page as ui

_LOUD = 0.6  # rounding alone gives 1/sqrt(12), about 0.29
_ALL = 1_000_000


def page(debugger: Any) -> ui.Page:
    """The card of a debugger, before its run and after."""
    rows = debugger.worst(_ALL)
    columns = ui.columns("operator: mono | layer: mono wide | tensor: number | error / scale: number")
    table = ui.Table(
        "layers",
        "Error of each layer against its float twin, in steps of its scale",
        columns,
        [(row.op_name, row.tensor_name, row.tensor_idx, round(row.rmse_over_scale, 3)) for row in rows],
    )
    sections = [ui.Section("layers", "Layers", (table,))] if rows else []
    return ui.make_page("debugger", "", _verdict(rows), (), sections)


def _verdict(rows: Any) -> ui.PageVerdict:
    if not rows:
        return ui.PageVerdict("plain", "not run yet", "run() fills in the statistics of layers.")
    worst, loud = rows[0], [row for row in rows if row.rmse_over_scale > _LOUD]
    said = f"{worst.op_name} {safe(worst.tensor_name, 80)}: {worst.rmse_over_scale:.2f} steps of its scale."
    if not loud:
        return ui.PageVerdict("good", "no layer has more error than rounding gives", f"Most: {said}")
    where = f"{len(loud)} of {len(rows)} layers"
    return ui.PageVerdict("warn", f"more error than rounding gives in {where}", said)
