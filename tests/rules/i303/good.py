"""A step beyond: a range around an exact zero ends early on one side."""

from __future__ import annotations

from pathlib import Path

from outlive.rules.feed import Feed
from tests.rules.feeds import behind_quantize, feed, ramp


def fact(tmp_path: Path) -> Feed:
    return feed(behind_quantize(), image=ramp(-1, 1))
