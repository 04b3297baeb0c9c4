"""A scan for people: what the files came to, which devices they fit, what ended badly, what got worse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from outlive.arena.budget import WORDS
from outlive.fleet.comparing import Comparison
from outlive.fleet.rows import OUTCOMES, Row
from outlive.fleet.scanning import Scan, Tally
from outlive.names import safe
from outlive.rendering.fleet_tables import why
from outlive.rendering.model_lists import listing
from outlive.rules.catalogue import find_rule
from outlive.units import format_bytes, plural

if TYPE_CHECKING:
    from rich.console import RenderableType

_ALL_ROWS = 40
_SHOWN = 30
_NAME = 60
_WHY = 80
_FITS = (*WORDS, "not planned")
_BAD = frozenset({"flawed", "broken", "unreadable", "too large", "refused", "hung", "died", "lost", "failed"})
_STYLES = {
    "ran": "green",
    "sound": "green",
    "flawed": "yellow",
    "too large": "yellow",
    "refused": "yellow",
    "broken": "yellow",
}


def scan_text(scan: Scan, files: Sequence[str] = ()) -> Iterator[RenderableType]:
    """The parts of the report, top to bottom."""
    from rich.text import Text

    tally = scan.tally
    yield Text.assemble((plural(tally.done, "file"), "bold"), "  ", *_outcomes(tally))
    yield from _beside(tally, scan.engine)
    if tally.done <= _ALL_ROWS:
        yield _table(scan, [device.name for device in scan.order.devices])
    else:
        yield from _ended_badly(scan)
    yield from _devices(tally)
    yield from _causes(tally)
    yield from _findings(tally)
    if scan.comparison is not None:
        yield from _worse(scan.comparison)
    for path in files:
        yield Text(f"written: {safe(path, 200)}", style="dim")


def _outcomes(tally: Tally) -> Iterator[tuple[str, str]]:
    told = [name for name in OUTCOMES if tally.outcomes[name]]
    for place, name in enumerate(told):
        comma = ", " if place + 1 < len(told) else ""
        yield f"{tally.outcomes[name]:,} {name}{comma}", _STYLES.get(name, "bold red")


def _beside(tally: Tally, engine: str) -> Iterator[RenderableType]:
    from rich.text import Text

    words = [f"on {safe(engine, 80)}"]
    if tally.same:
        words.append(f"{plural(tally.same, 'file')} like another one, looked at once")
    if tally.from_cache:
        words.append(f"{tally.from_cache:,} known from an earlier scan")
    if tally.resumed:
        words.append(f"{tally.resumed:,} done before this scan was resumed")
    yield Text(", ".join(words), style="dim")


def _table(rows: Scan, devices: Sequence[str]) -> RenderableType:
    table = listing("file", "size", "outcome", "errors", "warnings", "peak", "latency", *devices, "why")
    for row in rows:
        words = {item.device: item.word for item in row.devices}
        table.add_row(*_cells(row), *(words.get(name, "") for name in devices), safe(why(row), _WHY))
    return table


def _cells(row: Row) -> tuple[str, ...]:
    """File, size, outcome, errors, warnings, peak (measured, or else as planned) and latency."""
    measured = None if row.run is None else row.run.peak_bytes
    peak = row.peak_bytes if measured is None else measured
    slow = None if row.run is None else row.run.milliseconds
    return (
        safe(row.path, _NAME),
        format_bytes(row.file_bytes),
        row.outcome,
        str(row.errors or ""),
        str(row.warnings or ""),
        "" if peak is None else format_bytes(peak) + (" planned" if measured is None else ""),
        "" if slow is None else f"{slow:,.2f} ms",
    )


def _ended_badly(scan: Scan) -> Iterator[RenderableType]:
    from rich.text import Text

    table = listing("file", "outcome", "cause", "where", "why")
    count = 0
    for row in scan:
        if row.outcome in _BAD and row.same_as is None:
            count += 1
            if count <= _SHOWN:
                table.add_row(*_bad(row))
    if not count:
        return
    yield Text("\nwhat did not go well, each once", style="bold")
    yield table
    if count > _SHOWN:
        yield Text(f"and {count - _SHOWN:,} more: write them with -o results.html or .csv", style="dim")


def _bad(row: Row) -> tuple[str, ...]:
    death = row.death
    where = "" if death is None else ", ".join(filter(None, (death.signal, death.stage, death.op)))
    cause = "" if death is None else death.cause
    return safe(row.path, _NAME), row.outcome, safe(cause, 40), safe(where, 60), safe(why(row), _WHY)


def _devices(tally: Tally) -> Iterator[RenderableType]:
    from rich.text import Text

    if not tally.fits:
        return
    yield Text("\ndevices", style="bold")
    words = [word for word in _FITS if any(counts[word] for counts in tally.fits.values())]
    table = listing("device", *words)
    for device, counts in tally.fits.items():
        table.add_row(safe(device, _NAME), *(f"{counts[word]:,}" for word in words))
    yield table


def _causes(tally: Tally) -> Iterator[RenderableType]:
    from rich.text import Text

    if not tally.causes:
        return
    told = ", ".join(f"{safe(cause, 40)} {count:,}" for cause, count in tally.causes.most_common())
    yield Text.assemble(("\ncauses  ", "bold"), told)


def _findings(tally: Tally) -> Iterator[RenderableType]:
    from rich.text import Text

    if not tally.codes:
        return
    yield Text("\nfindings, by the number of files", style="bold")
    table = listing("code", "files", "severity", "what")
    ranked = sorted(tally.codes.items(), key=lambda item: (_weight(item[0]), -item[1], item[0]))
    for code, count in ranked[:_SHOWN]:
        rule = find_rule(code)
        told = ("", "") if rule is None else (rule.severity.value, rule.summary)
        table.add_row(safe(code, 20), f"{count:,}", *told)
    yield table
    if len(ranked) > _SHOWN:
        yield Text(f"and {len(ranked) - _SHOWN} more codes", style="dim")


def _weight(code: str) -> int:
    rule = find_rule(code)
    return 3 if rule is None else ("error", "warning", "note").index(rule.severity.value)


def _worse(found: Comparison) -> Iterator[RenderableType]:
    from rich.text import Text

    old = safe(str(found.old_path), 100)
    beside = f"{plural(found.compared, 'file')} compared, {found.added:,} new, {found.gone:,} gone"
    if not found.worse:
        yield Text.assemble(("\nnothing got worse", "bold green"), f" since {old}: {beside}")
        return
    counts = ", ".join(f"{what} {count:,}" for what, count in sorted(found.counts.items()))
    yield Text.assemble(
        (f"\n{plural(found.worse, 'thing')} got worse", "bold red"), f" since {old}: {counts}"
    )
    yield Text(beside, style="dim")
    table = listing("file", "what", "was", "is")
    for item in found.regressions[:_SHOWN]:
        table.add_row(safe(item.path, _NAME), item.what, safe(item.was, _NAME), safe(item.now, _WHY))
    yield table
    if found.worse > _SHOWN:
        yield Text(f"and {found.worse - _SHOWN:,} more: --format json lists them", style="dim")
