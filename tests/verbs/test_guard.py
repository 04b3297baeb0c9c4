"""`guard` of a script: how it ended, as `outlive guard` says it."""

from __future__ import annotations

from pathlib import Path

import pytest

import outlive


def test_a_script_gets_its_arguments_and_its_exit_code_comes_back(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys\nsys.exit(len(sys.argv))\n")
    end = outlive.guard(script, seconds=300)("a", "b")
    assert (end.exit_code, end.findings) == (3, ())
    assert len(repr(end)) < 400


def test_a_script_that_dies_is_judged(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    end = outlive.guard(str(script))()
    assert end.exit_code is None
    assert end.flight.signal == "SIGSEGV"
    assert [finding.code for finding in end.findings] == ["D504"]


def test_what_is_no_script_is_told_at_once() -> None:
    with pytest.raises(ValueError, match="file not found"):
        outlive.guard("gone.py")
    with pytest.raises(TypeError, match="guard expects a function"):
        outlive.guard(42)  # type: ignore[call-overload]
