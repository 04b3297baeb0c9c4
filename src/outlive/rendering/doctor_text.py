"""What this machine offers, for a person: one line per thing, and at the end the commands that get more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from outlive.cache import Usage
from outlive.environment.checkup import Check, Environment, State
from outlive.names import safe
from outlive.rendering.finding_text import count_findings, rich_finding
from outlive.rendering.model_text import grid, heading
from outlive.units import format_bytes, plural

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

_STYLE = {State.OK: "green", State.LIMITED: "yellow", State.MISSING: "yellow"}
_LIMIT = 160


def doctor_text(seen: Environment) -> Iterator[RenderableType]:
    """The verdict, each group with its checks, what is wrong, the commands, then what outlive keeps."""
    yield _verdict(seen.checks, seen.ready)
    for group, rows in groupby(seen.checks, key=lambda check: check.group):
        yield heading(group)
        table = grid("left", "left", "left", "left")
        for check in rows:
            table.add_row("", _state(check), check.name, safe(check.found, _LIMIT), check.meaning)
        yield table
    if seen.findings:
        yield heading("what is wrong here", count_findings(seen.findings))
        yield from (rich_finding(finding) for finding in seen.findings)
    remedies = [check for check in seen.checks if check.remedy]
    if remedies:
        yield heading("to get more")
        width = max(len(check.name) for check in remedies)
        yield from (_command(check, width) for check in remedies)
    yield from _caches(seen)


def _caches(seen: Environment) -> Iterator[RenderableType]:
    """What was removed, if that was asked for, and what is kept between runs."""
    if seen.removed:
        yield heading("removed", _amount(seen.removed))
        yield _usages(item for item in seen.removed if item.files)
    most = f"at most {format_bytes(seen.most_cache_bytes)} and {seen.most_cache_days} days"
    yield heading("kept between runs", f"{_amount(seen.caches)}, {most}")
    yield _usages(seen.caches)


def _usages(items: Iterable[Usage]) -> Table:
    table = grid("left", "right", "right", "left")
    for item in items:
        size = format_bytes(item.size_bytes)
        table.add_row("", item.name, plural(item.files, "file"), size, safe(str(item.folder), _LIMIT))
    return table


def _amount(items: Sequence[Usage]) -> str:
    files, size = sum(item.files for item in items), sum(item.size_bytes for item in items)
    return f"{plural(files, 'file')}, {format_bytes(size)}"


def _verdict(checks: Sequence[Check], ready: bool) -> Text:
    from rich.text import Text

    counts = {state: sum(check.state is state for check in checks) for state in State}
    rest = ", ".join(
        f"{plural(counts[state], 'thing')} {state.value}"
        for state in (State.MISSING, State.LIMITED)
        if counts[state]
    )
    needed = ", ".join(check.name for check in checks if check.needed and check.state is State.MISSING)
    said = ("models can be run here", "bold green") if ready else (f"not ready: {needed} missing", "bold red")
    return Text.assemble(said, (f"  {rest}" if rest else "", "dim"))


def _state(check: Check) -> Text:
    from rich.text import Text

    fatal = check.needed and check.state is State.MISSING
    return Text(check.state.value, style="bold red" if fatal else _STYLE[check.state])


def _command(check: Check, width: int) -> Text:
    from rich.text import Text

    # Not in a table: a command broken over two cells cannot be pasted. The terminal wraps it if it must.
    return Text.assemble(
        f"  {check.name:<{width}}  ", (check.remedy, "green"), no_wrap=True, overflow="ignore"
    )
