"""An infinity in a sample."""

from __future__ import annotations

from pathlib import Path

from outlive.interpreter.judge import Call


def fact(tmp_path: Path) -> Call:
    return Call(
        problem="infinity-in-sample",
        name="image",
        index=0,
        given_shape=(1, 4),
        given_dtype="float32",
        text="2",
    )
