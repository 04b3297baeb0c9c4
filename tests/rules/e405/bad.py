"""A kernel without landlock."""

from __future__ import annotations

from pathlib import Path


def fact(tmp_path: Path) -> str:
    return "no landlock: this system does not have it, or it is switched off"
