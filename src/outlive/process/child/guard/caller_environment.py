"""What a guarded function finds: environment, folder, path and words of the caller, at each call again."""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from typing import Any

from . import standard_streams

# TensorFlow takes all memory of a GPU unless this says to take what it needs: read when it makes its first
# device (tensorflow/core/common_runtime/gpu/gpu_process_state.cc, and its guide "Use a GPU").
_GROW = "TF_FORCE_GPU_ALLOW_GROWTH"


class CallerEnvironment:
    """Sets the stage as the caller has it, and sets it again after a function that has changed it."""

    def __init__(self) -> None:
        """Nothing is set yet."""
        self._state: dict[str, Any] | None = None
        self._environment: dict[Any, Any] = {}
        self._folder = ""

    def set(self, state: dict[str, Any]) -> None:
        """Take over what the caller says."""
        self._state = state
        self._set_places(state)
        _load_again(state["reloaded"])
        standard_streams.set_warnings(state["warnings"])
        standard_streams.set_levels(state["levels"], state["logging_disabled"])

    def restore(self) -> None:
        """Undo what a function did to its environment, its folder and its path."""
        state = self._state
        if state is None:
            return
        if (
            environment() != self._environment
            or current_folder() != self._folder
            or sys.path != state["path"]
            or sys.argv != state["argv"]
        ):
            self._set_places(state)

    def _set_places(self, state: dict[str, Any]) -> None:
        wanted = {os.fsdecode(key): os.fsdecode(value) for key, value in state["environment"].items()}
        for key in [key for key in os.environ if key not in wanted]:
            del os.environ[key]
        for key, value in wanted.items():
            if os.environ.get(key) != value:
                os.environ[key] = value
        if state["gpu"]:
            os.environ.setdefault(_GROW, "true")
        try:
            os.chdir(state["folder"])
        except OSError:
            _enter_removed_folder()
        sys.path[:] = state["path"]
        sys.argv[:] = state["argv"]
        importlib.invalidate_caches()
        self._environment, self._folder = dict(environment()), current_folder()


def _load_again(files: list[tuple[str, str]]) -> None:
    """Load modules again that the caller has loaded again, if they were imported here."""
    for name, file in files:
        module = sys.modules.get(name)
        if module is not None and not _reload(module, file):
            sys.modules.pop(name, None)  # the next import gets the other file, or says what is wrong


def _reload(module: Any, file: str) -> bool:
    try:
        if module.__spec__.origin != file:
            return False
        importlib.reload(module)
    except BaseException:
        return False
    return True


def _enter_removed_folder() -> None:
    """Into a folder that is gone, as the caller's is: relative paths fail in the function's own words."""
    try:
        folder = tempfile.mkdtemp(prefix="outlive-gone")
        os.chdir(folder)
        os.rmdir(folder)
    except OSError:
        pass


def environment() -> dict[Any, Any]:
    """The environment as it is kept, which takes no copy; a copy where it is kept otherwise."""
    kept = getattr(os.environ, "_data", None)
    return kept if isinstance(kept, dict) else dict(os.environ)


def current_folder() -> str:
    """The current folder; empty if it is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""
