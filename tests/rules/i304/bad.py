"""Floats from 0 to 1 that were cast."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.rules.feed import Feed
from tests.rules.feeds import feed, small


def fact(tmp_path: Path) -> Feed:
    return feed(small(), image=(np.arange(48) % 2).astype(np.int8).reshape(1, 4, 4, 3))
