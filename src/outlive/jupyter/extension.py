"""`%load_ext outlive`: what it puts into a kernel, and takes out again."""

from __future__ import annotations

from typing import Any

from outlive.jupyter import cells, complaints, deaths, formats, magics, progress
from outlive.verbs.blackbox import is_in_cell, record_kernel

_recorders: dict[int, Any] = {}


def load(shell: Any) -> None:
    """Show the last death of this notebook if there was one; cards, magics and the black box from now on."""
    if is_in_cell():
        deaths.show_last(shell)
    else:
        deaths.show_with_first_cell(shell)
    for part in (formats, complaints, magics, cells, progress):
        part.register(shell)
    recorder = None if id(shell) in _recorders else record_kernel(shell)
    if recorder is not None:
        _recorders[id(shell)] = recorder


def unload(shell: Any) -> None:
    """Take out what `load` put in."""
    for part in (formats, complaints, magics, cells, progress):
        part.unregister(shell)
    recorder = _recorders.pop(id(shell), None)
    if recorder is not None:
        recorder.close()
