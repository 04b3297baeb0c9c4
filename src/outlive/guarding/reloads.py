"""Which modules of the user's own were loaded again: a worker that has imported them does the same.

Python moves a module that it has loaded to the end of `sys.modules`, and gives it a new specification
(importlib/_bootstrap.py: _exec, _load_unlocked). So one look at the last module tells whether to look at all.
"""

from __future__ import annotations

import os
import sys
from typing import Any

_INSTALLED = ("site-packages", "dist-packages")
_LIBRARY = os.path.dirname(os.__file__) + os.sep
_OURS = ("outlive", "outlive_child")
_NONE: dict[str, str] = {}


class Reloads:
    """Knows the modules as they were last seen."""

    def __init__(self) -> None:
        """Nothing has been seen."""
        self._count = 0
        self._last = ""
        self._module: Any = None
        self._facts: dict[str, Any] = {}
        self._spec: Any = None
        self._specs: dict[str, Any] = {}

    def look(self) -> dict[str, str]:
        """The modules that were loaded again since the last look, and their files.

        To see that there are none takes no time.
        """
        modules = sys.modules
        try:
            is_last = len(modules) == self._count and next(reversed(modules)) == self._last
            is_same = is_last and modules.get(self._last) is self._module
            if is_same and self._facts.get("__spec__") is self._spec:
                return _NONE
        except RuntimeError:  # another thread imports something
            pass
        return self._look_at_all()

    def _look_at_all(self) -> dict[str, str]:
        found = {}
        known = self._specs
        modules = list(sys.modules.items())
        for name, module in modules:
            spec: Any = _facts(module).get("__spec__")
            if name in known and spec is not known[name] and _is_users(name, spec):
                found[name] = spec.origin
            known[name] = spec
        self._count = len(modules)
        self._last, self._module = modules[-1]
        self._facts = _facts(self._module)
        self._spec = self._facts.get("__spec__")
        return found


def _facts(module: Any) -> dict[str, Any]:
    """What a module holds, without a word to modules that load themselves when they are asked."""
    try:
        held = object.__getattribute__(module, "__dict__")
    except AttributeError:
        return {}
    return held if isinstance(held, dict) else {}


def _is_users(name: str, spec: Any) -> bool:
    """True for Python files that are neither installed nor Python's own, nor ours."""
    path = getattr(spec, "origin", None)
    if not isinstance(path, str) or not path.endswith(".py") or name.partition(".")[0] in _OURS:
        return False
    return not path.startswith(_LIBRARY) and not any(word in path for word in _INSTALLED)
