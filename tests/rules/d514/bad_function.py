"""A guarded function whose worker sent bytes that are no frame."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import death


def fact(tmp_path: Path) -> Flight:
    return death("SIGKILL", ended_by="malformed", stage="call", frames=(), op=None, stderr_tail="oops\n")
