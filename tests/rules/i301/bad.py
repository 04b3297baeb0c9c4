"""Floats from 0 to 1 for int8."""

from __future__ import annotations

from pathlib import Path

from outlive.rules.feed import Feed
from tests.rules.feeds import feed, ramp, small


def fact(tmp_path: Path) -> Feed:
    return feed(small(), image=ramp(0, 1))
