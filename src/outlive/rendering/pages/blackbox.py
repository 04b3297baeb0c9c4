"""Deaths of kernels: which cell, what happened, its memory, and what was printed last; or all in a table."""

from __future__ import annotations

import time
from collections.abc import Iterator

from outlive.kernel_deaths.record import KernelDeath, KernelDeaths, Record
from outlive.rendering import page as ui
from outlive.rendering.pages.run import memory_chart
from outlive.units import format_bytes, plural

_MOST_LINES = 12


def page(found: KernelDeaths) -> ui.Page:
    """The page of `outlive blackbox`."""
    if found.action in ("last", "show") and found.deaths:
        return _death(found.deaths[0])
    word = f"{plural(len(found.deaths), 'death')} of kernels" if found.deaths else "no kernel has died"
    return ui.Page(
        title="black box",
        kind="blackbox",
        verdict=ui.PageVerdict("plain", word),
        sections=(_list(found),) if found.deaths else (),
    )


def _list(found: KernelDeaths) -> ui.Section:
    columns = ui.columns("name: mono | cell | how | what: wide | notebook or folder: mono wide")
    rows = []
    for death in found.deaths:
        record, end = death.record, death.record.to_flight()
        how = end.signal or (f"exit code {end.exit_code}" if end.exit_code is not None else "unseen")
        said = f"{death.finding.code} {death.finding.headline}"
        rows.append((record.name, record.cell, how, said, record.notebook or record.folder))
    table = ui.Table("deaths", "The newest first", columns, rows, brief=len(rows))
    return ui.Section("list", "Deaths", (table,))


def _death(death: KernelDeath) -> ui.Page:
    record = death.record
    moment = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record.ended))
    sections = ui.findings_sections((death.finding,), "Why")
    sections.append(ui.Section("record", "What was recorded", tuple(_record(death))))
    return ui.Page(
        title=record.notebook or record.name or "kernel",
        kind="blackbox",
        verdict=ui.PageVerdict("bad", _headline(record), f"{moment}."),
        sections=tuple(sections),
    )


def _headline(record: Record) -> str:
    """What it was doing: `the kernel died while cell [12] ran, after 3.4 s`."""
    if record.busy:
        return f"the kernel died while {record.cell} ran, after {record.cell_seconds:,.1f} s"
    after = f", after {record.cell}" if record.cell_number is not None else ""
    return f"the kernel died between two cells{after}"


def _record(death: KernelDeath) -> Iterator[ui.Block]:
    """The cell, what was printed last, the Python stack, and memory."""
    record = death.record
    flight = record.to_flight()
    texts = (
        (record.cell if record.cell_number is not None else "cell", record.cell_source.splitlines()),
        ("printed last to standard error", record.stderr_tail.splitlines()[-_MOST_LINES:]),
        ("Python stack", _calls(flight.fault_trace.splitlines())),
    )
    for title, lines in texts:
        if any(map(str.strip, lines)):
            yield ui.Pre(title, "\n".join(_shortened(lines)), is_open=True, detail=0)
    if record.timeline:
        # The verdict of a death for want of memory says so itself.
        yield ui.Words(_memory(record), detail=1 if death.finding.code == "D501" else 0)
    if len(record.timeline) > 2:
        yield memory_chart(flight, None)
    if flight.fault_trace.strip():
        yield ui.Pre("all Python stacks", flight.fault_trace, detail=2)


def _memory(record: Record) -> str:
    """What it held before, at most, and the memory of the machine."""
    peak = record.before_bytes + max(point.bytes for point in record.timeline)
    words = f"{format_bytes(record.before_bytes)} before the cell, at least {format_bytes(peak)} at the end"
    if record.memory_bytes:
        words += f"; this machine or container has {format_bytes(record.memory_bytes)}"
    return f"{words}."


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
