"""A negative shape."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.rules.feed import Feed
from tests.rules.feeds import feed, shaped
from tests.rules.small import tensor


def fact(tmp_path: Path) -> Feed:
    return feed(shaped("RANDOM_UNIFORM", 0, tensor("v", [])), sizes=np.array([-3, 4], np.int32))
