"""A 0 that is divided."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.rules.feed import Feed
from tests.rules.feeds import division, feed


def fact(tmp_path: Path) -> Feed:
    return feed(division("FLOOR_MOD"), a=np.array([0, 2]), b=np.array([1, 3]))
