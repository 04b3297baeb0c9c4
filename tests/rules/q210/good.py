"""Another problem."""

from __future__ import annotations

from pathlib import Path

from outlive.interpreter.judge import Call


def fact(tmp_path: Path) -> Call:
    return Call(problem="wrong-shape", name="image", wanted_shape=(1, 4), given_shape=(4,))
