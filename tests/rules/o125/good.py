"""Another mistake."""

from __future__ import annotations

from pathlib import Path

from outlive.interpreter.judge import Call

TEXT = """"""


def fact(tmp_path: Path) -> Call:
    return Call(problem="wrong-shape", text=TEXT)
