"""A line that only this fault prints."""

from __future__ import annotations

from pathlib import Path

from outlive.rules.logged import LoggedFault


def fact(tmp_path: Path) -> LoggedFault:
    return LoggedFault(
        code="E422",
        lines=("ImportError: /opt/x/_pywrap.so: undefined symbol: _ZN6tflite11InterpreterC1Ev",),
        meaning="what the tables say of it",
        do=("what the tables say to do",),
    )
