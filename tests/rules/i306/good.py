"""The largest float is finite."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.rules.feed import Feed
from tests.rules.feeds import feed, plain, ramp


def fact(tmp_path: Path) -> Feed:
    return feed(plain(), image=ramp(0, 1) * np.finfo(np.float32).max)
