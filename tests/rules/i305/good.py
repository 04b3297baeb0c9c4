"""All finite."""

from __future__ import annotations

from pathlib import Path

from outlive.rules.feed import Feed
from tests.rules.feeds import feed, plain, ramp


def fact(tmp_path: Path) -> Feed:
    return feed(plain(), image=ramp(0, 1))
