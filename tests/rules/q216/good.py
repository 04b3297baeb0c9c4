"""A sample that holds NaN fits; it is bad for another reason."""

from __future__ import annotations

from pathlib import Path

from outlive.interpreter.judge import Call


def fact(tmp_path: Path) -> Call:
    return Call(
        problem="nan-in-sample", name="image", index=0, given_shape=(1, 8), given_dtype="float32", text="1"
    )
