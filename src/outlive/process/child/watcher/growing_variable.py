"""Which variable of a notebook grew most in its last cell; looked at after a cell, for milliseconds at most.

Standard library only, Python 3.8: it runs in the kernel. No code of the user's is asked for a size.
"""

from __future__ import annotations

import time
from typing import Any, Mapping

from ..guard import variables

_LEAST_BYTES, _LONGEST_NAME = 1 << 20, 80
_MOST_S = 0.005
# Lists of arrays, and dictionaries of them.
_DEEPEST = 2


class GrowingVariable:
    """The sizes of variables, from one cell to the next."""

    def __init__(self) -> None:
        """Nothing was looked at yet."""
        self._sizes: dict[str, int] = {}

    def look(self, namespace: Mapping[str, Any]) -> dict[str, Any]:
        """The one that grew most since the last look: name, bytes, and how many more; empty if none did."""
        before, self._sizes = self._sizes, self._measure(namespace)
        grown = {name: size - before.get(name, 0) for name, size in self._sizes.items()}
        name = max(grown, key=grown.__getitem__, default="")
        if not name or grown[name] < _LEAST_BYTES:
            return {}
        return {"name": name[:_LONGEST_NAME], "bytes": self._sizes[name], "grown_bytes": grown[name]}

    def _measure(self, namespace: Mapping[str, Any]) -> dict[str, int]:
        """The sizes, the newest variables first; those that time does not allow for stay as they were."""
        found, end_s = {}, time.perf_counter() + _MOST_S
        # Names that begin with _ are IPython's, for values that have names of their own.
        named = [(name, value) for name, value in list(namespace.items()) if not name.startswith("_")]
        for name, value in reversed(named):
            late = time.perf_counter() > end_s
            found[name] = self._sizes.get(name, 0) if late else variables.size_of(value, _DEEPEST)
        return found
