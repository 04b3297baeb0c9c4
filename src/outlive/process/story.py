"""The memory of a worker, stage by stage, as it reports it itself; cheap enough for every run."""

from __future__ import annotations

import time

from outlive.meter import Point

# A program that allocates anew before each call makes two points a call: the first and the last are kept.
_FIRST, _MOST = 32, 512


class Story:
    """Marked points above the baseline that the worker had before the model came."""

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self._start = time.monotonic()
        self._points: list[Point] = []
        self.baseline_bytes = 0
        self._peak_bytes: int | None = None

    def begin(self, memory: dict[str, int]) -> None:
        """Take the baseline: interpreter, numpy and runtime, before the model."""
        self._start = time.monotonic()
        self.baseline_bytes = memory.get("private_bytes", 0)
        self._add("start", memory)

    def mark(self, name: str, memory: dict[str, int]) -> None:
        """Note the memory after a stage."""
        self._add(name, memory)

    def points(self) -> tuple[Point, ...]:
        """All that was noted."""
        return tuple(self._points)

    def seconds(self) -> float:
        """How long ago it began."""
        return time.monotonic() - self._start

    def peak(self, last: dict[str, int]) -> int | None:
        """The most private memory that was seen above the baseline; None if nothing was.

        `last` is what was seen of its memory as it died. Its resident bytes are no measure: the code of the
        runtime is in them, page by page as it runs.
        """
        seen = [] if self._peak_bytes is None else [self._peak_bytes]
        if self._points and last.get("private_bytes"):
            seen.append(max(0, last["private_bytes"] - self.baseline_bytes))
        return max(seen, default=None)

    def _add(self, name: str, memory: dict[str, int]) -> None:
        if not memory:
            return
        above = max(0, memory["private_bytes"] - self.baseline_bytes)
        self._peak_bytes = max(above, self._peak_bytes or 0)
        if len(self._points) >= _MOST:
            del self._points[_FIRST]
        self._points.append(
            Point(
                seconds=self.seconds(),
                bytes=above,
                rss_bytes=memory["rss_bytes"],
                mark=name,
                gpu_bytes=memory.get("gpu_bytes"),
            )
        )
