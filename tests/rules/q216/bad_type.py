"""A sample of bytes."""

from __future__ import annotations

from pathlib import Path

from outlive.interpreter.judge import Call


def fact(tmp_path: Path) -> Call:
    return Call(
        problem="sample-misfit",
        index=0,
        name="image",
        wanted_shape=(1, 8),
        wanted_dtype="float32",
        given_shape=(1, 8),
        given_dtype="uint8",
        text="sample 3 of the representative dataset",
    )
