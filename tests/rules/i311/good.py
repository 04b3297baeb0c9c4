"""A reshape with one dimension left open."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.rules.feed import Feed
from tests.rules.feeds import feed, shaped
from tests.rules.small import tensor


def fact(tmp_path: Path) -> Feed:
    return feed(shaped("RESHAPE", 1, tensor("v", [4, 4])), sizes=np.array([-1, 2], np.int32))
