"""A GPU that was asked for by name."""

from __future__ import annotations

from pathlib import Path

from outlive.interpreter.ladder import MissingAccelerator


def fact(tmp_path: Path) -> MissingAccelerator:
    return MissingAccelerator(
        name="gpu", missing="there is no GPU here", install="apt install chromium libvulkan1"
    )
