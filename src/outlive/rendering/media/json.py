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


def _check(checks: Any) -> Json:
    from outlive.rendering.check_json import check_json, checks_json

    documents = [check_json(file) for file in checks.files]
    return documents[0] if len(documents) == 1 else checks_json(documents)


def _report(seen: Any) -> Json:
    from outlive.rendering.pages.report import report_json

    return report_json(seen)


def _checkup(seen: Any) -> Json:
    from outlive.rendering.pages.checkup import checkup_json

    return checkup_json(seen)


def _scan(scan: Any) -> Json:
    from outlive.rendering.fleet_json import scan_json

    return scan_json(scan, list(scan.written), with_rows=not scan.written)


def _export(export: Any) -> Json:
    from outlive.rendering.export_json import export_json

    return export_json(export)


def _snippet(snippet: Any) -> Json:
    from outlive.rendering.export_json import snippet_json

    return snippet_json(snippet)


def _read(found: Any) -> Json:
    from outlive.rendering.model_json import reading_json, readings_json
    from outlive.rendering.pruning_report import pruning_json

    documents = []
    for file in found.files:
        document = reading_json(file.reading, file.judgement)
        if file.sparsity is not None:
            document["sparsity"] = pruning_json(file.sparsity)
        documents.append(document)
    return documents[0] if len(documents) == 1 else readings_json(documents)


def _cut(part: Any) -> Json:
    from outlive.rendering.cut_json import cut_json

    return cut_json(part, part.whole, part.path)


def _explain(found: Any) -> Json:
    from outlive.rendering.document import document

    rules = [
        {
            "code": rule.code,
            "name": rule.name,
            "severity": rule.severity.value,
            "since": rule.since,
            "headline": rule.summary,
            "facts": rule.facts,
            "page": rule.doc,
        }
        for rule in found.rules
    ]
    return document("explain", {"rules": rules})


def _run(flight: Any) -> Json:
    from outlive.rendering.flight_json import flight_json

    return flight_json(flight, flight.path, () if flight.judge is None else flight.findings)


def _diagnose(diagnosis: Any) -> Json:
    from outlive.rendering.diagnosis_json import diagnosis_json

    return diagnosis_json(diagnosis)


def _delegates(coverage: Any) -> Json:
    from outlive.rendering.coverage_json import coverage_json

    return coverage_json(coverage, coverage.findings)


def _leak(growth: Any) -> Json:
    from outlive.rendering.leak_json import leak_json

    return leak_json(growth)


_WRITERS = {
    "plan": _plan,
    "devices": _devices,
    "read": _read,
    "cut": _cut,
    "explain": _explain,
    "check": _check,
    "report": _report,
    "checkup": _checkup,
    "scan": _scan,
    "export": _export,
    "snippet": _snippet,
    "run": _run,
    "diagnose": _diagnose,
    "delegates": _delegates,
    "leak": _leak,
}
