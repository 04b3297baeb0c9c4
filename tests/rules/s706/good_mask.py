"""A mask of infinities is added: the file means it so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tests.rules.s706.bad import inside, landed, layers, row


def facts(tmp_path: Path) -> dict[str, Any]:
    mask = np.triu(np.full((8, 8), -np.inf, np.float32), 1)
    seen = inside(row(0), row(1), row(3, not_finite=28), chosen=True)
    return {"flight": landed(28, inside=seen), "model": layers(tmp_path, "ADD", mask)}
