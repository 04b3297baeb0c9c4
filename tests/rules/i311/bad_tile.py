"""Repeated too often."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.rules.feed import Feed
from tests.rules.feeds import feed, shaped
from tests.rules.small import tensor


def fact(tmp_path: Path) -> Feed:
    return feed(shaped("TILE", 1, tensor("v", [1000, 1000])), sizes=np.array([100, 100], np.int32))
