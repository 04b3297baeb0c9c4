"""Every row is a detection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.rules.s708.bad import facts as detections


def facts(tmp_path: Path) -> dict[str, Any]:
    return detections(tmp_path, (0.9, 0.8, 0.7, 0.1), 4)
