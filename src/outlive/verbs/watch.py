"""`watch`: the memory of this process while a block of code runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from outlive.meter.watching import Watch


def watch(*, quiet: bool = False) -> Watch:
    """The memory of this process while a block of code runs: `with outlive.watch() as memory:`.

    `memory.mark("loaded")` names a moment; at the end the marks, the peak and a small curve are printed
    unless `quiet`. `memory.timeline` has the points, `memory.plot("memory.svg")` draws them.
    """
    from outlive.meter.watching import Watch
    from outlive.rendering.watch_text import draw_watch, show_watch

    return Watch(None if quiet else show_watch, draw_watch)
