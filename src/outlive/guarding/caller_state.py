"""What a guarded function finds as its caller has it: environment, folder, `sys.path`, warnings, randomness.

It is sent to a worker only when it has changed since that worker last heard of it; to see that nothing has
changed takes a few microseconds.
"""

from __future__ import annotations

import logging
import os
import sys
import warnings
from types import FrameType
from typing import Any

from outlive.meter.gpu import find_gpus
from outlive.process.child.guard import pickling
from outlive.process.child.guard.caller_environment import current_folder, environment
from outlive.process.child.guard.random_state import RandomWatch

# Libraries that a process loads because it wants to, never because a result mentions them.
NATIVE = ("tensorflow", "keras", "jax", "torch", "ai_edge_litert", "tflite_runtime")
# So many workers may stand above one that calls a guarded function; each of them is a process that waits.
MOST_LEVELS = 20
# What this process knows of itself if it is a worker; None everywhere else.
_worker: Any = getattr(sys.modules.get("outlive_child.guard.server"), "Nesting", None)
IS_WORKER = _worker is not None
_INSTALLED = ("site-packages", "dist-packages")
_LIBRARY = os.path.dirname(os.__file__) + os.sep
_OURS = ("outlive", "outlive_child")
_NONE: dict[str, str] = {}


class CallerState:
    """The state of this process, with a version for each of its two parts."""

    def __init__(self) -> None:
        """Nothing has been seen."""
        self.version = 0
        self.random_version = 0
        self._seen: Any = None
        self._module_count = 0
        self._native: list[str] = []
        self._random = RandomWatch()
        self._levels = LevelWatch()
        self._reloads = ReloadWatch()
        # Modules, their files, and the version since which they are what they are.
        self._reloaded: dict[str, tuple[str, int]] = {}
        self.reload_version = 0  # of the last of them

    def look(self) -> None:
        """Raise the versions if something has changed."""
        if len(sys.modules) != self._module_count:
            self._module_count = len(sys.modules)
            self._native = [name for name in NATIVE if name in sys.modules]
        root = logging.root
        if self._levels.mark not in self._levels.worked_out:
            self._levels.look()
        reloaded = self._reloads.look()
        found = (
            environment(),
            current_folder(),
            sys.path,
            sys.argv,
            warnings.filters,
            (root.level, root.manager.disable, self._levels.version),
            self._native,
        )
        if found != self._seen or reloaded:
            self._seen = tuple(one.copy() if isinstance(one, (dict, list)) else one for one in found)
            self.version += 1
            for name, file in reloaded.items():
                self._reloaded.pop(name, None)
                self._reloaded[name] = file, self.version
                self.reload_version = self.version
        if self._random.changed():
            self.random_version += 1

    def pack(self, version: int, random_version: int) -> bytes | None:
        """What a worker that knows these versions has to be told; None if nothing."""
        if version == self.version and random_version == self.random_version:
            return None
        state: dict[str, Any] = {}
        if version != self.version:
            state.update(self._facts(version))
        if random_version != self.random_version:
            state["random"] = self._random.state()
        return pickling.dumps(state)[0]

    def take_random(self, body: bytes) -> None:
        """Go on with the random states that a user's function has left behind, as if it had run here."""
        self._random.apply(pickling.loads(body))
        self.random_version += 1

    def _facts(self, known_version: int) -> dict[str, Any]:
        return {
            "environment": dict(environment()),
            "folder": current_folder(),
            "path": [str(entry) for entry in sys.path],
            "argv": [str(word) for word in sys.argv],
            "warnings": [one for one in warnings.filters if one[2].__module__ == "builtins"],
            "levels": {"": logging.root.level, **self._levels.levels},
            "logging_disabled": logging.root.manager.disable,
            "native": self._native,
            "gpu": find_gpus() is not None,
            "depth": depth() + 1,
            "reloaded": [
                (name, file) for name, (file, since) in self._reloaded.items() if since > known_version
            ],
        }


class LevelWatch:
    """The levels of loggers, looked at when one may have been set.

    `setLevel` clears what all loggers have worked out before (logging.Manager._clear_cache): a mark in
    that is gone then.
    """

    def __init__(self) -> None:
        """Nothing has been seen."""
        self.levels: dict[str, int] = {}
        self.version = 0
        self.mark: Any = object()
        self.worked_out: dict[Any, bool] = getattr(logging.root, "_cache", {})

    def look(self) -> None:
        """Look at them all, and raise the version if one has changed."""
        if self.worked_out is getattr(logging.root, "_cache", None):
            self.worked_out[self.mark] = True
        levels = {
            name: logger.level
            for name, logger in list(logging.root.manager.loggerDict.items())
            if isinstance(logger, logging.Logger) and logger.level
        }
        if levels != self.levels:
            self.levels = levels
            self.version += 1


class ReloadWatch:
    """The user's own modules that were loaded again: a worker that has imported them does the same.

    Python moves a module that it has loaded to the end of `sys.modules`, and gives it a new specification
    (importlib/_bootstrap.py: _exec, _load_unlocked). So one look at the last module tells whether to look at
    all of them.
    """

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


class CannotNest(RuntimeError):
    """A guarded call inside a worker that would start workers without end; the text says what to do."""


def depth() -> int:
    """How many callers stand above this process."""
    return 0 if _worker is None else int(_worker.depth)


def check_nesting() -> None:
    """In a worker: `CannotNest` where a guarded call would start workers without end."""
    if _worker.is_reading:
        raise CannotNest(
            f"a guarded function is called {_place()} while a worker imports what it was sent, "
            "which would go on without end; put that call into a function, or under "
            '`if __name__ == "__main__":`'
        )
    if _worker.depth >= MOST_LEVELS:
        raise CannotNest(
            f"guarded functions call guarded functions {_worker.depth} deep, and each level is a process "
            "that waits; let the inner calls be plain ones, without outlive.guard"
        )


def _place() -> str:
    """Where the statement stands that runs while its module is imported."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            return f"in {frame.f_code.co_filename}, line {frame.f_lineno},"
        frame = frame.f_back
    return "by something that is unpickled,"
