"""A GPU that was asked for by name."""

from __future__ import annotations

from pathlib import Path

from outlive.interpreter.compiled_accelerators import Absent


def fact(tmp_path: Path) -> Absent:
    return Absent(name="gpu", missing="there is no GPU here", install="apt install chromium libvulkan1")
