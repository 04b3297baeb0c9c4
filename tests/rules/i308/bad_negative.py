"""Row -1."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.rules.feed import Feed
from tests.rules.feeds import embedding, feed


def fact(tmp_path: Path) -> Feed:
    return feed(embedding(), tokens=np.array([0, -1, 3, 4], np.int32))
