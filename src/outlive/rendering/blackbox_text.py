"""A kernel's death for people: which cell, what happened, its memory, and what was printed last."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from outlive.finding import Finding
from outlive.kernel_deaths.record import Record
from outlive.names import safe
from outlive.rendering.finding_text import rich_finding
from outlive.rendering.model_text import grid, heading
from outlive.units import format_bytes

if TYPE_CHECKING:
    from rich.console import RenderableType

_MOST_LINES = 12
_WIDTH = 120


def death_text(record: Record, finding: Finding) -> Iterator[RenderableType]:
    """The parts of the report, top to bottom."""
    from rich.text import Text

    yield Text.assemble((headline(record), "bold red"), "  ", (moment(record), "dim"))
    yield rich_finding(finding)
    for title, text in shown_texts(record):
        yield heading(title)
        yield Text("\n".join(f"  {safe(line, _WIDTH)}" for line in text.splitlines()))
    said = memory_words(record)
    if said and finding.code != "D501":  # whose verdict says so
        yield heading("memory")
        yield Text(f"  {said}")


def headline(record: Record) -> str:
    """What died, and what it was doing: `the kernel died while cell [12] ran, after 3.4 s`."""
    if not record.busy:
        after = f", after {record.cell}" if record.cell_number is not None else ""
        return f"the kernel died between two cells{after}"
    return f"the kernel died while {record.cell} ran, after {record.cell_seconds:,.1f} s"


def moment(record: Record) -> str:
    """When that was, in the time of this place."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record.ended))


def shown_texts(record: Record) -> list[tuple[str, str]]:
    """The cell, what was printed last and the Python stack: title and the lines worth showing of each."""
    stack = record.to_flight().fault_trace.splitlines()
    texts = [
        (record.cell if record.cell_number is not None else "cell", record.cell_source.splitlines()),
        ("printed last to standard error", record.stderr_tail.splitlines()[-_MOST_LINES:]),
        ("Python stack", _calls(stack)),
    ]
    return [(title, "\n".join(_shortened(lines))) for title, lines in texts if any(map(str.strip, lines))]


def memory_words(record: Record) -> str:
    """What it held before, at most, and what there is; empty if nothing was seen."""
    if not record.timeline:
        return ""
    peak = record.before_bytes + max(point.bytes for point in record.timeline)
    words = f"{format_bytes(record.before_bytes)} before the cell, at least {format_bytes(peak)} at the end"
    if record.memory_bytes:
        words += f"; this machine or container has {format_bytes(record.memory_bytes)}"
    return words


def deaths_text(rows: Sequence[tuple[Record, Finding]]) -> Iterator[RenderableType]:
    """All records as a table, the newest first."""
    table = grid("left", "left", "left", "left")
    for record, finding in rows:
        end = record.to_flight()
        how = end.signal or (f"exit code {end.exit_code}" if end.exit_code is not None else "unseen")
        where = record.notebook or record.folder
        table.add_row(
            "", record.name, record.cell, how, f"{finding.code} {finding.headline}", safe(where, 80)
        )
    yield table


def _calls(stack: list[str]) -> list[str]:
    """The frames of the thread that died, down to its cell; the kernel's own machinery says nothing."""
    start = next((place for place, line in enumerate(stack) if line.startswith("Current thread")), 0)
    calls = []
    for line in stack[start:]:
        if any(word in line for word in ("IPython/core", "ipykernel/", "Extension modules:")):
            break
        if line.startswith("  File"):
            calls.append(line.strip())
    return calls


def _shortened(lines: list[str]) -> list[str]:
    """The first lines, and how many more there are."""
    if len(lines) <= _MOST_LINES + 1:
        return lines
    return [*lines[:_MOST_LINES], f"... {len(lines) - _MOST_LINES} more lines"]
