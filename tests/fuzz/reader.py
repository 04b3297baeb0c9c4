"""Hostile files for the reader: whatever the bytes, it gives a Reading whose parts can all be looked at."""

from __future__ import annotations

from collections.abc import Iterator

from outlive.model import read_source
from tests.properties.specimens import specimens
from tests.properties.visiting import read_everything


def try_one(data: bytes) -> None:
    read_source(data)
    read_everything(data)


def seeds() -> Iterator[bytes]:
    yield from (data for data in specimens() if len(data) < 20_000)
