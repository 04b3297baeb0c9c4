"""`%load_ext outlive`: what it puts into a kernel, and takes out again."""

from __future__ import annotations

from typing import Any

from outlive.jupyter import cells, complaints, deaths, formats, magics, progress
from outlive.kernel_deaths import box as blackbox
from outlive.kernel_deaths.box import Box

_boxes: dict[int, Box] = {}


def load(shell: Any) -> None:
    """Show the last death of this notebook if there was one; cards, magics and the black box from now on."""
    if blackbox.is_in_cell():
        deaths.show_last(shell)
    else:
        deaths.show_with_first_cell(shell)
    for part in (formats, complaints, magics, cells, progress):
        part.register(shell)
    box = None if id(shell) in _boxes else blackbox.start(shell)
    if box is not None:
        _boxes[id(shell)] = box


def unload(shell: Any) -> None:
    """Take out what `load` put in."""
    for part in (formats, complaints, magics, cells, progress):
        part.unregister(shell)
    box = _boxes.pop(id(shell), None)
    if box is not None:
        box.close()
