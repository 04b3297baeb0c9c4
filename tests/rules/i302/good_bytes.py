"""Metadata that want them as they are."""

from __future__ import annotations

from pathlib import Path

from outlive.rules.feed import Feed
from tests.rules.feeds import feed, plain, ramp, with_card


def fact(tmp_path: Path) -> Feed:
    return with_card(feed(plain(), image=ramp(0, 255)), 0.0, 1.0)
