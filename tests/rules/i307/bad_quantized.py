"""The same, quantized."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.rules.feed import Feed
from tests.rules.feeds import feed, small


def fact(tmp_path: Path) -> Feed:
    return feed(small(), image=np.full((1, 4, 4, 3), -128, np.int8))
