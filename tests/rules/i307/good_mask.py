"""A mask of ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.rules.feed import Feed
from tests.rules.feeds import feed, plain


def fact(tmp_path: Path) -> Feed:
    return feed(plain("INT32"), image=np.ones((1, 4, 4, 3), np.int32))
