"""A sample of another size."""

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
        given_shape=(1, 16),
        given_dtype="float32",
        text="sample 3 of the representative dataset",
    )
