"""Another mistake."""

from __future__ import annotations

from pathlib import Path

from outlive.interpreter.judge import Call


def fact(tmp_path: Path) -> Call:
    return Call(problem="unset-string", index=7, name="words")
