"""The divisor is a constant of the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.rules.feed import Feed
from tests.rules.feeds import division, feed


def fact(tmp_path: Path) -> Feed:
    return feed(division("DIV", "INT32", np.array([-1, 1], np.int32)), a=np.array([-(2**31), 0], np.int32))
