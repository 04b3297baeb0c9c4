"""What this machine offers: whether models can be run, each thing, what is wrong, how to get more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from outlive.cache import Usage
from outlive.environment.machine_report import Environment, State
from outlive.rendering import page as ui
from outlive.units import format_bytes, plural

_TONES = {State.OK.value: "good", State.LIMITED.value: "warn", State.MISSING.value: "bad"}
_ALL = 1_000


def page(seen: Environment) -> ui.Page:
    """The page of `outlive doctor`."""
    return ui.Page(
        title="this machine",
        kind="doctor",
        verdict=_verdict(seen),
        sections=(
            *_groups(seen),
            *ui.findings_sections(seen.findings, "Problems"),
            *_remedies(seen),
            *_caches(seen),
        ),
    )


def _verdict(seen: Environment) -> ui.PageVerdict:
    said = [
        f"{count} {state.value}"
        for state in (State.MISSING, State.LIMITED)
        if (count := sum(check.state is state for check in seen.checks))
    ]
    sentence = f"{', '.join(said)}." if said else ""
    if seen.ready:
        return ui.PageVerdict("good", "models can run here", sentence)
    needed = (check.name for check in seen.checks if check.needed and check.state is State.MISSING)
    return ui.PageVerdict("bad", f"not ready: {', '.join(needed)} missing", sentence)


def _groups(seen: Environment) -> Iterator[ui.Section]:
    columns = ui.columns(ui.Column("", "chip", _TONES), " | : wide | : wide")
    for group, checks in groupby(seen.checks, key=lambda check: check.group):
        rows = [(check.state.value, check.name, check.found, check.meaning) for check in checks]
        table = ui.Table(f"{group}-table", "", columns, rows, brief=_ALL)
        yield ui.Section(group, group.capitalize(), (table,))


def _remedies(seen: Environment) -> Iterator[ui.Section]:
    blocks: tuple[ui.Block, ...] = tuple(
        ui.Command(check.remedy, check.name) for check in seen.checks if check.remedy
    )
    if blocks:
        yield ui.Section("more", "Install more", blocks)


def _caches(seen: Environment) -> Iterator[ui.Section]:
    """What was removed, if that was asked for, and what is kept between runs."""
    if seen.removed:
        gone = _usages("removed", [item for item in seen.removed if item.files])
        yield ui.Section("removed", "Removed", (gone,), lead=f"{_amount(seen.removed)}.")
    size = format_bytes(seen.most_cache_bytes, seen.most_cache_bytes)
    most = f"at most {size} and {seen.most_cache_days} days"
    lead = f"{_amount(seen.caches)}, {most}."
    kept = _usages("kept", seen.caches)
    yield ui.Section("caches", "Caches", (kept,), lead=lead)


def _usages(ident: str, items: Sequence[Usage]) -> ui.Table:
    columns = ui.columns(" | files: number | size: bytes | folder: mono wide")
    rows = [(item.name, item.files, item.size_bytes, str(item.folder)) for item in items]
    return ui.Table(f"{ident}-table", "", columns, rows)


def _amount(items: Sequence[Usage]) -> str:
    files, size = sum(item.files for item in items), sum(item.size_bytes for item in items)
    return f"{plural(files, 'file')}, {format_bytes(size)}"
