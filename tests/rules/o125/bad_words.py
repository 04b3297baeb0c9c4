"""A failure that names no op."""

from __future__ import annotations

from pathlib import Path

from outlive.interpreter.judge import Call

TEXT = """
Variable constant folding is failed. Please consider using enabling another flag
"""


def fact(tmp_path: Path) -> Call:
    return Call(problem="converter-refused", text=TEXT)
