"""Machines that a model could run on, as facts: healthy ones, and what the cases change of them."""

from __future__ import annotations

from typing import Any

from outlive.environment.surroundings import Surroundings

GIB = 1 << 30


def machine(**fields: Any) -> Surroundings:
    """A Linux machine with LiteRT and nothing wrong with it."""
    usual: dict[str, Any] = {
        "system": "Linux",
        "architecture": "x86_64",
        "bits": 64,
        "python": (3, 12),
        "libc": "glibc",
        "libc_version": (2, 36),
        "packages": {"litert": "2.3.0", "numpy": "2.2.6"},
        "cpu_flags": frozenset({"sse2", "avx", "avx2"}),
        "limits": {"NOFILE": 1024, "NPROC": 30_000},
        "overcommit": 0,
        "commit_left_bytes": 3 * GIB,
    }
    return Surroundings(**{**usual, **fields})


def bare(**fields: Any) -> Surroundings:
    """The same without LiteRT."""
    return machine(**{"packages": {"numpy": "2.2.6"}, **fields})
