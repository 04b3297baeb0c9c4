"""Where text goes: a terminal in colour, a pipe or a file plain and never cut."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING

from outlive.names import safe, safe_lines

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.table import Table

# In a pipe nothing is wrapped or cut: the reader can do that, but cannot bring back what is lost.
_PIPE_WIDTH = 100_000
_MANY_ROWS = 300


def print_parts(parts: Iterable[RenderableType], stream: IO[str]) -> None:
    """Print to a terminal in colour; to anything else plain, with no spaces at the ends of lines.

    Names in the parts are escaped where they are made; should one have come so far, it goes no further.
    """
    from rich.table import Table

    terminal = stream.isatty()
    console = _make_console(stream if terminal else io.StringIO(), None if terminal else _PIPE_WIDTH)
    for part in parts:
        if isinstance(part, Table) and (not terminal or part.row_count > _MANY_ROWS):
            # rich measures each cell several times: thousands of rows would take minutes.
            stream.writelines(safe(line) + "\n" for line in plain_rows(part))
        elif terminal:
            console.print(_Escaped(part))
        else:
            with console.capture() as capture:
                console.print(_Escaped(part))
            stream.writelines(line.rstrip() + "\n" for line in capture.get().splitlines())


class _Escaped:
    """A part in which what is no plain text is shown as escapes; its colours are not in its text."""

    def __init__(self, part: RenderableType) -> None:
        self._part = part

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for segment in console.render(self._part, options):
            yield segment if segment.control else segment._replace(text=safe_lines(segment.text))


def plain_rows(table: Table) -> Iterator[str]:
    """The rows of a table without lines as plain text, columns aligned as the table has them."""
    from rich.cells import cell_len
    from rich.text import Text

    # A bar is for eyes only, and the numbers stand beside it.
    columns = [
        [str(cell) if isinstance(cell, (str, Text)) else "" for cell in column.cells]
        for column in table.columns
    ]
    if table.show_header:
        columns = [[str(column.header), *cells] for column, cells in zip(table.columns, columns, strict=True)]
    widths = [max(map(cell_len, cells), default=0) for cells in columns]
    right = [column.justify == "right" for column in table.columns]
    for row in zip(*columns, strict=True):
        cells = []
        for text, width, to_the_right in zip(row, widths, right, strict=True):
            gap = " " * (width - cell_len(text))
            cells.append(gap + text if to_the_right else text + gap)
        yield "  ".join(cells).rstrip()


def _make_console(stream: IO[str], width: int | None) -> Console:
    from rich.console import Console

    if width is not None:
        # Whatever FORCE_COLOR says: a file or a pipe gets plain text.
        return Console(
            file=stream, width=width, markup=False, emoji=False, highlight=False, soft_wrap=True,
            force_terminal=False, force_jupyter=False, no_color=True, color_system=None,
        )  # fmt: skip
    return Console(file=stream, markup=False, emoji=False, highlight=False)
