"""A line that only this fault prints."""

from __future__ import annotations

from pathlib import Path

from outlive.rules.logged import LoggedFault


def fact(tmp_path: Path) -> LoggedFault:
    return LoggedFault(
        code="D530",
        lines=("Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.50GiB",),
        meaning="what the tables say of it",
        do=("what the tables say to do",),
    )
