"""Watches a process's memory from outside while it works, or this process's own during a block of code."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from enum import Enum, auto
from pathlib import Path
from types import TracebackType
from typing import Any

from outlive.meter.operating_system import open_probe
from outlive.meter.sample import Sample
from outlive.meter.timeline import MOST_POINTS, Point, Timeline, thin
from outlive.threads import require_thread

# The exact reading walks the process's pages; it may take this share of the time and no more.
_EXACT_SHARE = 0.05
_EXACT_EVERY_S = 0.1
# A process that moves more than this during the exact reading does not tell how far the counters are off.
_STEADY_BYTES = 256 * 1024


class _State(Enum):
    WATCHING = auto()
    GONE = auto()
    CLOSED = auto()


class Sampler:
    """A thread that notes a process's memory until it is stopped or the process is gone.

        with Sampler(pid) as sampler:
            sampler.mark("allocate")
            ...
        timeline = sampler.stop()

    Every `interval_s` it reads the cheap counters; at the start, at marks and now and then the exact figure,
    by which the cheap ones are corrected until the next. What it keeps is bounded however long it runs.
    Nothing here raises because the process died, or because no thread can be had: then there are marks only.
    """

    def __init__(
        self, pid: int, interval_s: float = 0.005, *, forked: bool = False, proc: Path | None = None
    ) -> None:
        """Read the baseline; `start` or `with` begins the watch.

        Of a `forked` process, what it has from its parent is the baseline, also where it is written to later.
        """
        self._probe = open_probe(pid, proc)
        self._forked = forked
        self._elsewhere_bytes = 0
        self._interval_s = max(0.001, interval_s)
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None
        self._started_s = time.monotonic()
        self._next_exact_s = 0.0
        self._correction_bytes = 0
        self._points: list[Point] = []  # bytes are absolute here; the baseline is taken off at the end
        self._thin_at = 2 * MOST_POINTS
        self._state = _State.WATCHING
        first = self._note(exact=True)
        self._baseline_bytes = first.bytes if first else 0

    @property
    def gone(self) -> bool:
        """Whether the process was seen to have ended."""
        return self._state is _State.GONE

    @property
    def latest(self) -> Point | None:
        """The newest point, for a watchdog; None if the process was gone from the start."""
        with self._lock:
            return self._above_baseline(self._points[-1]) if self._points else None

    def start(self) -> Sampler:
        """Begin to sample in the background."""
        thread = threading.Thread(target=self._watch, name="outlive-sampler", daemon=True)
        try:
            require_thread()
            thread.start()
        except (MemoryError, RuntimeError):  # no more threads for this user: marks are still noted
            return self
        self._thread = thread
        return self

    def mark(self, name: str, *, exact: bool = True) -> Point | None:
        """Note a point at once, named after what begins here; None if the process is gone.

        The exact reading takes milliseconds (see `ProcProbe`): fine for stages, not for each of many invokes.
        """
        point = self._note(mark=name, exact=exact)
        return self._above_baseline(point) if point else None

    def count_in(self, elsewhere_bytes: int) -> None:
        """From now on count these bytes too: the process's own, in memory that it shares with another."""
        self._elsewhere_bytes = elsewhere_bytes

    def rebase(self) -> int:
        """Make what the process holds now the baseline, for all points of this timeline."""
        point = self._note(exact=True)
        if point:
            self._baseline_bytes = point.bytes
        return self._baseline_bytes

    def stop(self) -> Timeline:
        """End the watch, with a last point if the process still lives, and give what was seen."""
        self._ending.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=1)
        self._note(exact=True)
        with self._lock:
            self._state = _State.CLOSED
            self._probe.close()
            points = thin(self._points, MOST_POINTS)
        return Timeline(points=tuple(map(self._above_baseline, points)), baseline_bytes=self._baseline_bytes)

    def __enter__(self) -> Sampler:
        """Begin the watch."""
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the watch; `stop` still gives the timeline."""
        self.stop()

    def _watch(self) -> None:
        while not self._ending.wait(self._interval_s):
            self._note(exact=time.monotonic() >= self._next_exact_s)
            if self._state is not _State.WATCHING:
                return

    def _note(self, *, mark: str | None = None, exact: bool = False) -> Point | None:
        """Read and keep one point; None if there is nothing to read any more."""
        with self._lock:
            if self._state is not _State.WATCHING:
                return None
            sample = self._read_exact() if exact else self._probe.read_cheap()
            if sample is None:
                self._state = _State.GONE
                self._probe.close()
                return None
            point = Point(
                seconds=round(time.monotonic() - self._started_s, 6),
                bytes=sample.private_bytes + self._elsewhere_bytes + (0 if exact else self._correction_bytes),
                rss_bytes=sample.rss_bytes,
                mark=mark,
            )
            self._points.append(point)
            if len(self._points) >= self._thin_at:
                self._points = list(thin(self._points, MOST_POINTS))
                # More where marks alone are more than that: thinning at every point would be slow.
                self._thin_at = 2 * max(MOST_POINTS, len(self._points))
            return point

    def _read_exact(self) -> Sample | None:
        before = self._probe.read_cheap()
        began_s = time.monotonic()
        exact = self._probe.read_grown() if self._forked else self._probe.read()
        ended_s = time.monotonic()
        self._next_exact_s = ended_s + max(_EXACT_EVERY_S, (ended_s - began_s) / _EXACT_SHARE)
        after = self._probe.read_cheap()
        if before and exact and after and abs(after.private_bytes - before.private_bytes) <= _STEADY_BYTES:
            self._correction_bytes = exact.private_bytes - after.private_bytes
        return exact

    def _above_baseline(self, point: Point) -> Point:
        return Point(
            seconds=point.seconds,
            bytes=point.bytes - self._baseline_bytes,
            rss_bytes=point.rss_bytes,
            mark=point.mark,
        )


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
            raise RuntimeError("no judge was given")
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
