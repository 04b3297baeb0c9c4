"""Tables of sizes and names, each with the version of the runtime it holds for."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

# The version that kernels, planners and rules follow. `tools/adopt_runtime.py` writes it.
LITERT_VERSION = "2.3.0"


@cache
def read_table(name: str) -> Mapping[str, Any]:
    """One table of this folder."""
    table: dict[str, Any] = json.loads(Path(__file__).with_name(f"{name}.json").read_text(encoding="utf-8"))
    return table
