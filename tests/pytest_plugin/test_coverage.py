"""Coverage of guarded tests is added to that of the session, by pytest-cov and by coverage itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.pytest_plugin.sessions import PLUGIN, quick_environment, run_session

LIBRARY = """\
def guarded(flag):
    if flag:
        return "guarded"
    return "never"

def here():
    return "here"

def before_death():
    return 1
"""
TESTS = """\
import os, pytest, library

@pytest.mark.outlive
def test_guarded():
    assert library.guarded(True) == "guarded"

@pytest.mark.outlive
def test_dies():
    library.before_death()
    os.abort()

def test_here():
    assert library.here() == "here"
"""
SET_PATH = "import os, sys\nsys.path.insert(0, os.path.dirname(__file__))\n"


def measured(folder: Path) -> dict[str, Any]:
    """What coverage knows about the library."""
    found: dict[str, Any] = json.loads((folder / "coverage.json").read_text("utf-8"))
    return dict(found["files"]["library.py"])


@pytest.mark.parametrize("words", [(), ("-p", "xdist", "-n", "1")], ids=["alone", "xdist"])
def test_with_pytest_cov(tmp_path: Path, words: tuple[str, ...]) -> None:
    ran = run_session(
        tmp_path, "-p", "pytest_cov", "--cov=library", "--cov-branch", "--cov-report=json", *words,
        files={"library.py": LIBRARY, "test_a.py": TESTS}, conftest=SET_PATH,
    )  # fmt: skip
    assert ran.outcomes() == {"test_guarded": "passed", "test_dies": "failed", "test_here": "passed"}
    found = measured(tmp_path)
    assert {2, 3, 7} <= set(found["executed_lines"])
    assert found["missing_lines"] == [4, 10]
    assert [2, 3] in found["executed_branches"]


def test_with_coverage_itself(tmp_path: Path) -> None:
    for name, text in {"library.py": LIBRARY, "test_a.py": TESTS, "conftest.py": SET_PATH}.items():
        (tmp_path / name).write_text(text, "utf-8")
    command = [sys.executable, "-m", "coverage"]
    environment = {**quick_environment(), "COVERAGE_FILE": str(tmp_path / ".coverage")}
    words = ["run", "--source=.", "-m", "pytest", "-q", *PLUGIN, "test_a.py"]
    subprocess.run([*command, *words], cwd=tmp_path, env=environment, check=False, capture_output=True)
    subprocess.run([*command, "json"], cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert {2, 3, 7} <= set(measured(tmp_path)["executed_lines"])
