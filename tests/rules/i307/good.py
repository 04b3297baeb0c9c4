"""One pixel differs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.rules.feed import Feed
from tests.rules.feeds import feed, plain, ramp


def fact(tmp_path: Path) -> Feed:
    return feed(plain(), image=np.maximum(ramp(0, 1), 0.99))
