"""Runs first in a Python kernel that a Jupyter server watches: the server puts this folder on PYTHONPATH.

    kernel starts ──> this file ──> stack dumps of a crash go to the server's folder, from the first moment
                        └─ ipykernel is imported ──> its cells are noted (watcher/cell_notes.py)

Standard library only, Python 3.8: the kernel's environment need not have outlive. Whatever fails here, the
kernel starts as it would without us. An environment's own sitecustomize is run as ever.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from typing import Any

_FOLDER, _STDERR, _PATH = "OUTLIVE_KERNEL_FOLDER", "OUTLIVE_KERNEL_STDERR", "OUTLIVE_KERNEL_PYTHONPATH"
_PROTECT, _MEMORY, _TRACER = "OUTLIVE_KERNEL_PROTECT", "OUTLIVE_KERNEL_MEMORY", "OUTLIVE_KERNEL_TRACER"
_HERE = os.path.dirname(os.path.abspath(__file__))
_CHILD = os.path.dirname(os.path.dirname(_HERE))
_KERNEL = "ipykernel.kernelapp"


class KernelFinder:
    """Finds ipykernel's application, once, to change it as it is loaded."""

    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: Any = None) -> Any:
        """The real one, with a loader of ours; nothing else."""
        if name != _KERNEL:
            return None
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not cls]
        from importlib.machinery import PathFinder

        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            _change_after_loading(spec.loader)
        return spec


def _change_after_loading(loader: Any) -> None:
    original = loader.exec_module

    def exec_module(module: Any) -> None:
        original(module)
        with contextlib.suppress(Exception):
            _change(module.IPKernelApp)

    loader.exec_module = exec_module


def _change(application: Any) -> None:
    """Have the application note its cells before it loads extensions and runs startup files."""
    original = application.init_extensions

    def init_extensions(self: Any) -> None:
        words = _take_words()
        with contextlib.suppress(Exception):
            _attach(self.shell, words)
        original(self)
        with contextlib.suppress(Exception):
            if words[_PROTECT]:
                self.shell.extension_manager.load_extension("outlive")

    application.init_extensions = init_extensions


def _take_words() -> dict[str, str]:
    """What the server says; programs that the kernel starts are not to hear it."""
    before = os.environ.pop(_PATH, "")
    if before:
        os.environ["PYTHONPATH"] = before
    else:
        os.environ.pop("PYTHONPATH", None)
    return {name: os.environ.pop(name, "") for name in (_FOLDER, _STDERR, _PROTECT, _MEMORY, _TRACER)}


def _attach(shell: Any, words: dict[str, str]) -> None:
    import faulthandler
    import importlib.util

    if _dumps_are_ours:
        faulthandler.disable()  # the hooks have their own
    # Loaded alone, as every child of outlive's: the environment may have another outlive, or none.
    spec = importlib.util.spec_from_file_location(
        "outlive_child", os.path.join(_CHILD, "__init__.py"), submodule_search_locations=[_CHILD]
    )
    assert spec is not None
    assert spec.loader is not None
    package: Any = importlib.util.module_from_spec(spec)
    sys.modules["outlive_child"] = package
    spec.loader.exec_module(package)
    cell_notes = importlib.import_module("outlive_child.watcher.cell_notes")
    stderr, most_bytes, tracer = int(words[_STDERR] or -1), int(words[_MEMORY] or 0), int(words[_TRACER] or 0)
    package.attached = cell_notes.attach(shell, words[_FOLDER], stderr, most_bytes, tracer)


def _begin() -> bool:
    """Get ready for the kernel; whether stack dumps go to our file."""
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != _HERE]
    folder = os.environ.get(_FOLDER, "")
    if not os.path.isdir(folder):
        return False
    sys.meta_path.insert(0, KernelFinder)
    import faulthandler

    if faulthandler.is_enabled():
        return False
    flags = os.O_CREAT | os.O_RDWR | os.O_APPEND
    faulthandler.enable(os.open(os.path.join(folder, "faults"), flags, 0o600))
    return True


def _run_the_environments_own() -> None:
    ours = sys.modules.pop("sitecustomize")
    try:
        importlib.import_module("sitecustomize")
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        sys.modules["sitecustomize"] = ours


_dumps_are_ours = False
with contextlib.suppress(Exception):
    _dumps_are_ours = _begin()
if __name__ == "sitecustomize":
    _run_the_environments_own()
