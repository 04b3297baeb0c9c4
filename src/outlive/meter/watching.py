"""The memory of this process while a block of code runs, with marks."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import TracebackType
from typing import Any

from outlive.meter.sampler import Sampler
from outlive.meter.timeline import Point, Timeline


class Watch:
    """Watches this process's own memory from `with` to its end; `.timeline` is what was seen.

        with outlive.watch() as memory:
            load()
            memory.mark("loaded")
            work()

    Bytes are private memory above what the process held when the block began.
    """

    def __init__(
        self,
        show: Callable[[Timeline], None] | None = None,
        draw: Callable[[Timeline, str | None], Any] | None = None,
        *,
        interval_s: float = 0.005,
    ) -> None:
        """`show` is given the timeline at the end of the block, `draw` by `plot`."""
        self._show, self._draw, self._interval_s = show, draw, interval_s
        self._sampler: Sampler | None = None
        self._timeline: Timeline | None = None

    def mark(self, name: str) -> Point | None:
        """Note the memory now, under a name; None outside of the block."""
        return None if self._sampler is None else self._sampler.mark(name)

    @property
    def timeline(self) -> Timeline:
        """All that was seen; RuntimeError before the end of the block."""
        if self._timeline is None:
            raise RuntimeError("the block that is watched has not ended")
        return self._timeline

    @property
    def peak_bytes(self) -> int:
        """The most private memory that the block added."""
        return self.timeline.peak_bytes

    def plot(self, path: str | None = None) -> Any:
        """The curve as a picture: in an .svg file, or a .png where matplotlib is installed.

        Without a path a figure of matplotlib, which a notebook shows; ImportError where it is not installed.
        """
        if self._draw is None:
            raise RuntimeError("nobody who can draw was given")
        return self._draw(self.timeline, path)

    def __enter__(self) -> Watch:
        """Begin."""
        self._timeline = None
        self._sampler = Sampler(os.getpid(), self._interval_s).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End, and show what was seen; also when the block raised."""
        assert self._sampler is not None
        self._sampler.mark("end" if error is None else f"raised {type(error).__name__}")
        self._timeline, self._sampler = self._sampler.stop(), None
        if self._show is not None:
            self._show(self._timeline)
