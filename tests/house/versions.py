"""Only the tables name a version of the runtime: another one is adopted by writing these anew."""

from __future__ import annotations

import re
from pathlib import Path

from tests.house.modules import read_modules

# Where versions are data: tools/adopt_runtime.py writes them. JSON files are tables too.
TABLES = ("kernels/tables/",)
_VERSION = re.compile(r"\b(?:LiteRT|ai-edge-litert)(?:'s)?(?: |==|-)v?\d+\.\d+", re.IGNORECASE)


def runtime_versions(package: Path) -> list[str]:
    """Lines of code, docstrings and comments that name a version of LiteRT."""
    return [
        f"{module.at(number)}: names '{found.group()}'; say LITERT_VERSION, or no version"
        for module in read_modules(package)
        if not module.path.relative_to(package).as_posix().startswith(TABLES)
        for number, line in enumerate(module.text.splitlines(), start=1)
        if (found := _VERSION.search(line))
    ]
