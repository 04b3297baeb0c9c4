"""How far a long call has come: a bar where there are widgets, else a line of text that changes.

compare(...) ──tell──> ProgressDisplay ──> WidgetBar (ipywidgets), DisplayLine (a display that changes),
                                           TerminalLine (a terminal)

Nothing is shown of what takes less than a second. A bar goes away at the end; a line says how long it took.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from outlive.names import safe
from outlive.verbs.progress import set_hearer

# What is over sooner needs no bar; a display that changes faster cannot be read.
_SHOWN_AFTER_S, _EVERY_S = 0.7, 0.1
_MOST_LETTERS = 100


class Surface(Protocol):
    """Where progress is shown."""

    def show(self, words: str, share: float | None) -> None:
        """Show how far it is; `share` of 1 where that is known."""

    def end(self, words: str) -> None:
        """It is over."""


def register(shell: Any) -> None:
    """Show the progress of outlive's long calls from now on."""
    set_hearer(lambda verb: hearing(shell, verb))


def unregister(shell: Any) -> None:
    """Show it no longer."""
    set_hearer(None)


@contextlib.contextmanager
def hearing(shell: Any, verb: str) -> Iterator[Callable[..., None]]:
    """What a verb tells its progress to, as long as it runs."""
    showing = ProgressDisplay(verb, lambda: surface_of(shell))
    try:
        yield showing.tell
        showing.end(f"{verb}: {time.monotonic() - showing.began:.1f} s")
    finally:
        showing.end("")


class ProgressDisplay:
    """Shows progress, not too soon and not too often."""

    def __init__(self, verb: str, open_surface: Callable[[], Surface]) -> None:
        """Nothing is shown yet."""
        self._verb, self._open = verb, open_surface
        self._surface: Surface | None = None
        self.began = time.monotonic()
        self._next = self.began + _SHOWN_AFTER_S
        self._is_over = False

    def tell(self, *news: Any) -> None:
        """Hear how far it is; what cannot be shown does not stop the work."""
        now = time.monotonic()
        if now < self._next or self._is_over:
            return
        self._next = now + _EVERY_S
        try:
            words, share = in_words(self._verb, news)
            self._surface = self._surface or self._open()
            self._surface.show(safe(f"{self._verb}: {words}", _MOST_LETTERS), share)
        except Exception:
            self._is_over = True

    def end(self, words: str) -> None:
        """Take it away, or leave these words."""
        surface, self._surface, self._is_over = self._surface, None, True
        if surface is not None:
            with contextlib.suppress(Exception):
                surface.end(words)


def in_words(verb: str, news: tuple[Any, ...]) -> tuple[str, float | None]:
    """What a verb tells, in words, and the share that is done if it says so."""
    if verb == "compare":
        turn, turns, sample = news
        total = getattr(sample, "total", None)
        done = sample / total if total else 0.0
        if turns > 1:
            return f"sample {sample}, turn {turn} of {turns}", (turn - 1 + done) / turns
        return f"sample {sample}", done if total else None
    if verb == "quantize":
        total = getattr(news[0], "total", None)
        return f"sample {news[0]}", news[0] / total if total else None
    if verb == "leak" and news[0] == "call":
        news = news[1:]  # a function has no other cycle
    count = getattr(news[-1], "steps", None)
    share = count / count.total if count is not None and count.total else None
    return ": ".join(map(str, news)), share


def surface_of(shell: Any) -> Surface:
    """The best that can be shown here."""
    if not hasattr(shell, "kernel"):
        return TerminalLine()
    try:
        return WidgetBar()
    except ImportError:
        return DisplayLine(shell)


class WidgetBar:
    """A widget: it moves by itself where the end is not known."""

    def __init__(self) -> None:
        """Display it; ImportError where there are no widgets."""
        ipywidgets = importlib.import_module("ipywidgets")
        self._bar = ipywidgets.FloatProgress(min=0.0, max=1.0, bar_style="info")
        self._label = ipywidgets.Label()
        self._box = ipywidgets.HBox([self._bar, self._label])
        self._moves = 0
        self._output = importlib.import_module("IPython.display").display(self._box, display_id=True)

    def show(self, words: str, share: float | None) -> None:
        """Move the bar."""
        self._moves += 1
        self._bar.value = share if share is not None else (self._moves % 20 + 1) / 20
        self._label.value = words

    def end(self, words: str) -> None:
        """Take it away."""
        for widget in (self._box, self._bar, self._label):
            for part in (widget, widget.layout, getattr(widget, "style", None)):
                if part is not None:
                    part.close()
        # A notebook that is saved and opened again would show what is left of the widget: its words.
        self._output.update({"text/plain": ""}, raw=True)


class DisplayLine:
    """A piece of text that is replaced by the next one: every front end of Jupyter's can do that."""

    def __init__(self, shell: Any) -> None:
        """Nothing is displayed yet."""
        self._publisher = shell.display_pub
        self._name = f"outlive-{time.time_ns():x}"
        self._is_there = False

    def show(self, words: str, share: float | None) -> None:
        """Display or replace it."""
        done = f" ({share:.0%})" if share is not None else ""
        self._publish(words + done)

    def end(self, words: str) -> None:
        """Say how long it took."""
        self._publish(words)

    def _publish(self, words: str) -> None:
        transient = {"display_id": self._name}
        self._publisher.publish(
            data={"text/plain": words}, metadata={}, transient=transient, update=self._is_there
        )
        self._is_there = True


class TerminalLine:
    """One line of a terminal, written over; taken away at the end."""

    def __init__(self) -> None:
        """Nothing is written yet."""
        self._width = 0

    def show(self, words: str, share: float | None) -> None:
        """Write over what was there."""
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{words:<{self._width}}")
            sys.stderr.flush()
            self._width = len(words)

    def end(self, words: str) -> None:
        """Wipe it."""
        if self._width:
            sys.stderr.write(f"\r{'':<{self._width}}\r")
            sys.stderr.flush()
        self._width = 0
