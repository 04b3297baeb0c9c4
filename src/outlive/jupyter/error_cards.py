"""Errors of outlive in a notebook: a card with the finding and the timeline, not a wall of traceback.

The card has the traceback, folded, and `%outlive traceback` prints it.
"""

from __future__ import annotations

import os
import traceback
from typing import Any

from outlive.errors import OutliveError
from outlive.rendering.media.notebook import card_bundle
from outlive.rendering.pages.error import error_page

_HINT = "%outlive traceback prints the whole traceback"
_RENDER = "_render_traceback_"
_OURS = os.sep + "outlive" + os.sep
_MACHINERY = tuple(os.sep + name + os.sep for name in ("IPython", "site-packages", "dist-packages"))
# The error that was shown last, and in which cell.
_last: list[tuple[BaseException, int]] = []


def register(shell: Any) -> None:
    """Show errors of outlive as cards from now on; other exceptions as ever."""

    def render(error: Any) -> list[str]:
        return show(shell, error)

    # IPython asks an exception that has this method for its traceback (IPython/core/interactiveshell.py).
    setattr(OutliveError, _RENDER, render)


def unregister(shell: Any) -> None:
    """Show them as before."""
    if hasattr(OutliveError, _RENDER):
        delattr(OutliveError, _RENDER)


def show_as_card(shell: Any, error: BaseException) -> None:
    """Show an exception of a cell's own as a card too, if outlive has found out why it was raised."""
    if hasattr(error, "finding") and not isinstance(error, OutliveError):
        setattr(error, _RENDER, lambda: show(shell, error))


def show(shell: Any, error: Any) -> list[str]:
    """Show the card; what is left for the error itself is its name, its place and its finding."""
    now, before = [(error, shell.execution_count)], _last[:]
    _last[:] = now
    place = user_place(error.__traceback__)
    if not hasattr(shell, "kernel"):  # a terminal shows no cards: the finding in words will do
        return [f"{type(error).__name__}: {error}", *place, _HINT]
    if now != before:  # IPython asks twice: once to show the error, once to keep it
        shell.display_pub.publish(data=card_bundle(error_page(error)), metadata={})
    return [f"{type(error).__name__}: {error.finding}", *place, _HINT]


def last_traceback() -> str:
    """The whole traceback of the last error of outlive; empty if there was none."""
    return "".join(traceback.format_exception(_last[0][0])) if _last else ""


def user_place(trace: Any) -> list[str]:
    """The innermost line of the user's own code."""
    frames = traceback.extract_tb(trace)
    own = [frame for frame in frames if _OURS not in frame.filename and not _is_machinery(frame.filename)]
    if not own:
        return []
    last, text = own[-1], (own[-1].line or "").strip()
    if text.startswith("get_ipython()"):  # a magic, whose own line says nothing
        return []
    return [f"in {last.name}, line {last.lineno}: {text}"]


def _is_machinery(path: str) -> bool:
    return any(word in path for word in _MACHINERY)
