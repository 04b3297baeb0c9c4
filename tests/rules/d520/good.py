"""An output as large as the file says, and one that is smaller."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.rules.d520.bad import facts as of_shape


def facts(tmp_path: Path) -> dict[str, Any]:
    return of_shape(tmp_path, (3, 2))
