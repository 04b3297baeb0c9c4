"""Nothing at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.rules.feed import Feed
from tests.rules.feeds import feed, shaped
from tests.rules.small import tensor


def fact(tmp_path: Path) -> Feed:
    return feed(shaped("FILL", 0, tensor("v", [])), sizes=np.array([0, 100_000], np.int32))
