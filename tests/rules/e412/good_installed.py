"""Somebody built LiteRT for Alpine."""

from __future__ import annotations

from pathlib import Path

from outlive.environment.surroundings import Surroundings
from tests.rules.places import machine


def fact(tmp_path: Path) -> Surroundings:
    return machine(libc="musl", libc_version=())
