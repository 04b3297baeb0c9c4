"""What this machine offers, as a JSON document."""

from __future__ import annotations

from collections.abc import Sequence

from outlive.finding import Finding
from outlive.report.document import Json, document, finding_json
from outlive.worker.checkup import Check


def doctor_json(checks: Sequence[Check], ready: bool, findings: Sequence[Finding] = ()) -> Json:
    """The document `doctor`: whether models can be run here, every check, and what is wrong."""
    body: Json = {
        "ready": ready,
        "checks": [_check(check) for check in checks],
        "findings": [finding_json(finding) for finding in findings],
    }
    return document("doctor", body)


def _check(check: Check) -> Json:
    return {
        "group": check.group,
        "name": check.name,
        "state": check.state.value,
        "needed": check.needed,
        "found": check.found,
        "meaning": check.meaning,
        "remedy": check.remedy,
    }
