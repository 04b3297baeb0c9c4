"""A line that only this fault prints."""

from __future__ import annotations

from pathlib import Path

from outlive.rules.logged import LoggedFault


def fact(tmp_path: Path) -> LoggedFault:
    return LoggedFault(
        code="E426",
        lines=(
            'java.lang.UnsatisfiedLinkError: dlopen failed: library "libtensorflowlite_jni.so" not found',
        ),
        meaning="what the tables say of it",
        do=("what the tables say to do",),
    )
