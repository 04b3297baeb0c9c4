"""Pixels for a range of 0 to 1."""

from __future__ import annotations

from pathlib import Path

from outlive.rules.feed import Feed
from tests.rules.feeds import behind_quantize, feed, ramp


def fact(tmp_path: Path) -> Feed:
    return feed(behind_quantize(1 / 255, -128), image=ramp(0, 250))
