"""`watch`: the memory of this process while a block of code runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from outlive.meter import Timeline, Watch


def watch(*, quiet: bool = False) -> Watch:
    """Watch the memory of this process while a block of code runs: `with outlive.watch() as memory:`.

    `memory.mark("loaded")` names a moment. At the end the marks, the peak and a small curve are printed,
    unless `quiet`. `memory.timeline` has the points, `memory.plot("memory.svg")` draws them.

    >>> with outlive.watch(quiet=True) as memory:
    ...     model = outlive.read("healthy.tflite")
    """
    from outlive.meter import Watch
    from outlive.rendering.plots.watch import draw_watch

    return Watch(None if quiet else _show, draw_watch)


def _show(timeline: Timeline) -> None:
    """Print what a block of code did to the memory of this process."""
    import sys

    from outlive.rendering.console import print_parts
    from outlive.rendering.media.text import draw_text
    from outlive.rendering.pages.watch import page

    print_parts(draw_text(page(timeline)), sys.stdout)
