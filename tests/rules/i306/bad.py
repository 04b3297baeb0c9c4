"""One infinity."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.rules.feed import Feed
from tests.rules.feeds import feed, plain, ramp


def fact(tmp_path: Path) -> Feed:
    return feed(plain(), image=np.where(ramp(0, 1) == 1, np.float32("inf"), ramp(0, 1)))
