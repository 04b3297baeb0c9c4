"""What this machine offers, as a JSON document."""

from __future__ import annotations

from collections.abc import Sequence

from outlive.cache import MOST_DAYS, Usage, most_bytes, usage
from outlive.environment.checkup import Check
from outlive.finding import Finding
from outlive.rendering.document import Json, document, finding_json


def doctor_json(
    checks: Sequence[Check], ready: bool, findings: Sequence[Finding] = (), removed: Sequence[Usage] = ()
) -> Json:
    """The document `doctor`: whether models can be run here, every check, what is wrong, and the caches."""
    body: Json = {
        "ready": ready,
        "checks": [_check(check) for check in checks],
        "findings": [finding_json(finding) for finding in findings],
        "caches": [_usage(item) for item in usage()],
        "most_cache_bytes": most_bytes(),
        "most_cache_days": MOST_DAYS,
        "removed": [_usage(item) for item in removed],
    }
    return document("doctor", body)


def _usage(item: Usage) -> Json:
    return {"name": item.name, "path": str(item.folder), "files": item.files, "bytes": item.size_bytes}


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
