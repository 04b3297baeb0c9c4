"""The JSON document of a result."""

from __future__ import annotations

from typing import Any

from outlive.rendering.document import Json


def document_of(result: Any) -> Json:
    """The document, with the fields that the reference promises."""
    return _WRITERS[result.kind](result)


def _plan(plan: Any) -> Json:
    from outlive.rendering.plan_json import plan_json, row_json

    tables = {
        title: [row_json(row.setting, row.plan, row.verdict, row.problem) for row in rows]
        for title, rows in (("sweep", plan.sweep), ("compare", plan.compare))
        if rows
    }
    return plan_json(plan, plan.verdict, plan.findings, tables)


def _devices(listed: Any) -> Json:
    from outlive.rendering.plan_json import devices_json

    return devices_json(listed.devices)


_WRITERS = {"plan": _plan, "devices": _devices}
