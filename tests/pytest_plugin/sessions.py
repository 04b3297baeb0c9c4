"""Pytest sessions of their own, in a folder of their own, and what they reported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Writes every report of the main session down, one line each.
_CONFTEST = """\
import json
MAIN = []

def pytest_configure(config):
    MAIN[:] = [not hasattr(config, "workerinput")]

def pytest_runtest_logreport(report):
    if not MAIN[0]:
        return
    row = {
        "name": report.nodeid.rpartition("::")[2], "when": report.when, "outcome": report.outcome,
        "text": report.longreprtext, "sections": report.sections, "properties": report.user_properties,
        "expected": hasattr(report, "wasxfail"), "seconds": report.duration, "kind": type(report).__name__,
    }
    with open(REPORTS, "a") as file:
        file.write(json.dumps(row) + "\\n")
"""
PLUGIN = ("-p", "outlive.pytest_plugin")


def quick_environment() -> dict[str, str]:
    """This environment, in which pytest loads only plugins that are named: a worker is there sooner."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "COV"))}
    return {**kept, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A session that has ended."""

    code: int
    out: str
    rows: list[dict[str, Any]]

    def of(self, name: str) -> list[dict[str, Any]]:
        """The reports of a test."""
        return [row for row in self.rows if row["name"] == name]

    def failure(self, name: str) -> dict[str, Any]:
        """The one report of a test that did not pass."""
        (found,) = (row for row in self.of(name) if row["outcome"] != "passed")
        return found

    def outcomes(self) -> dict[str, str]:
        """How each test ended: passed, failed, error (outside the test itself), skipped, xfailed."""
        found: dict[str, str] = {}
        for row in self.rows:
            word = row["outcome"]
            if word == "passed":
                found.setdefault(row["name"], "passed")
            elif word == "skipped":
                found[row["name"]] = "xfailed" if row["expected"] else "skipped"
            else:
                found[row["name"]] = "failed" if row["when"] == "call" else "error"
        return found


def run_session(folder: Path, *words: str, files: dict[str, str], conftest: str = "", ini: str = "") -> Ran:
    """Write the files, run pytest on them, and read what it reported."""
    folder.mkdir(parents=True, exist_ok=True)
    reports = folder / "reports.jsonl"
    named = f"REPORTS = {str(reports)!r}\n"
    (folder / "conftest.py").write_text(named + _CONFTEST + conftest, "utf-8")
    (folder / "pytest.ini").write_text(f"[pytest]\n{ini}", "utf-8")
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    command = [sys.executable, "-m", "pytest", *PLUGIN, "-p", "no:cacheprovider", *words]
    environment = quick_environment()
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    lines = reports.read_text("utf-8").splitlines() if reports.exists() else []
    return Ran(code=done.returncode, out=done.stdout + done.stderr, rows=[json.loads(line) for line in lines])
