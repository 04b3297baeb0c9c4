"""Pixels for a model whose metadata say how to scale them."""

from __future__ import annotations

from pathlib import Path

from outlive.rules.feed import Feed
from tests.rules.feeds import feed, plain, ramp, with_card


def fact(tmp_path: Path) -> Feed:
    return with_card(feed(plain(), image=ramp(0, 255)), 127.5, 127.5)
