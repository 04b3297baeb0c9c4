"""Floats for uint8 with a zero point."""

from __future__ import annotations

from pathlib import Path

from outlive.rules.feed import Feed
from tests.rules.feeds import feed, ramp, small


def fact(tmp_path: Path) -> Feed:
    return feed(small("UINT8", 2 / 255, 128), image=ramp(0, 1))
