"""What this machine offers, as a JSON document."""

from __future__ import annotations

from collections.abc import Sequence

from outlive.report.document import Json, document
from outlive.worker.checkup import Check


def doctor_json(checks: Sequence[Check], ready: bool) -> Json:
    """The document `doctor`: whether models can be run here, and every check."""
    return document("doctor", {"ready": ready, "checks": [_check(check) for check in checks]})


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
