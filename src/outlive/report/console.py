"""Where text goes: a terminal in colour, a pipe or a file plain and never cut."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

# In a pipe nothing is wrapped or cut: whoever reads it can do that, but cannot bring back what is lost.
_PIPE_WIDTH = 100_000


def print_parts(parts: Iterable[RenderableType], stream: IO[str]) -> None:
    """Print to a terminal in colour; to anything else plain, with no spaces at the ends of lines."""
    if stream.isatty():
        console = _make_console(stream, None)
        for part in parts:
            console.print(part)
        return
    console = _make_console(io.StringIO(), _PIPE_WIDTH)
    for part in parts:
        with console.capture() as capture:
            console.print(part)
        stream.writelines(line.rstrip() + "\n" for line in capture.get().splitlines())


def _make_console(stream: IO[str], width: int | None) -> Console:
    from rich.console import Console

    if width is not None:
        # Whatever FORCE_COLOR says: a file or a pipe gets plain text.
        return Console(
            file=stream, width=width, markup=False, emoji=False, highlight=False, soft_wrap=True,
            force_terminal=False, force_jupyter=False, no_color=True, color_system=None,
        )  # fmt: skip
    return Console(file=stream, markup=False, emoji=False, highlight=False)
