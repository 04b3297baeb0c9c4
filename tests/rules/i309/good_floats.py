"""FLOOR_DIV computes with floats."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.rules.feed import Feed
from tests.rules.feeds import division, feed


def fact(tmp_path: Path) -> Feed:
    smallest = np.array([-(2**31), 1], np.int32)
    return feed(division("FLOOR_DIV", "INT32"), a=smallest, b=np.array([-1, 1], np.int32))
