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


def _compare(drift: Any) -> Json:
    from outlive.rendering.drift_json import drift_json

    return drift_json(drift, drift.reference or None, drift.candidate or None)


def _quantize(made: Any) -> Json:
    from outlive.rendering.quantize_json import quantize_json

    return quantize_json(made)


def _convert(made: Any) -> Json:
    from outlive.rendering.convert_json import convert_json

    return convert_json(made)


def _fit(fit: Any) -> Json:
    from outlive.rendering.fit_json import fit_json

    return fit_json(fit)


_WRITERS = {
    "plan": _plan,
    "devices": _devices,
    "compare": _compare,
    "quantize": _quantize,
    "convert": _convert,
    "fit": _fit,
}
