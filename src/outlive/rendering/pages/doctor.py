"""What this machine offers: whether models can be run, each thing, what is wrong, how to get more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from outlive.cache import Usage
from outlive.environment.machine_report import Environment, State
from outlive.rendering.page import (
    Block,
    Column,
    Command,
    Page,
    PageVerdict,
    Section,
    Table,
    findings_sections,
)
from outlive.units import format_bytes, plural

_TONES = {State.OK.value: "good", State.LIMITED.value: "warn", State.MISSING.value: "bad"}
_ALL = 1_000


def page(seen: Environment) -> Page:
    """The page of `outlive doctor`."""
    return Page(
        title="this machine",
        kind="doctor",
        verdict=_verdict(seen),
        sections=(
            *_groups(seen),
            *findings_sections(seen.findings, "What is wrong here"),
            *_remedies(seen),
            *_caches(seen),
        ),
    )


def _verdict(seen: Environment) -> PageVerdict:
    said = [
        f"{plural(count, 'thing')} {state.value}"
        for state in (State.MISSING, State.LIMITED)
        if (count := sum(check.state is state for check in seen.checks))
    ]
    sentence = f"{', '.join(said)}." if said else ""
    if seen.ready:
        return PageVerdict(tone="good", word="models can be run here", sentence=sentence)
    needed = (check.name for check in seen.checks if check.needed and check.state is State.MISSING)
    return PageVerdict(tone="bad", word=f"not ready: {', '.join(needed)} missing", sentence=sentence)


def _groups(seen: Environment) -> Iterator[Section]:
    columns = (
        Column(title="", kind="chip", tones=_TONES),
        Column(title=""),
        Column(title="", wide=True),
        Column(title="", wide=True),
    )
    for group, checks in groupby(seen.checks, key=lambda check: check.group):
        rows = [(check.state.value, check.name, check.found, check.meaning) for check in checks]
        table = Table(id=f"{group}-table", caption="", columns=columns, rows=rows, brief=_ALL)
        yield Section(id=group, title=group.capitalize(), blocks=(table,))


def _remedies(seen: Environment) -> Iterator[Section]:
    blocks: tuple[Block, ...] = tuple(
        Command(command=check.remedy, words=check.name) for check in seen.checks if check.remedy
    )
    if blocks:
        yield Section(id="more", title="To get more", blocks=blocks)


def _caches(seen: Environment) -> Iterator[Section]:
    """What was removed, if that was asked for, and what is kept between runs."""
    if seen.removed:
        gone = _usages("removed", [item for item in seen.removed if item.files])
        yield Section(id="removed", title="Removed", lead=f"{_amount(seen.removed)}.", blocks=(gone,))
    most = f"at most {format_bytes(seen.most_cache_bytes)} and {seen.most_cache_days} days"
    lead = f"{_amount(seen.caches)}, {most}."
    kept = _usages("kept", seen.caches)
    yield Section(id="caches", title="Kept between runs", lead=lead, blocks=(kept,))


def _usages(ident: str, items: Sequence[Usage]) -> Table:
    columns = (
        Column(title=""),
        Column(title="files", kind="number"),
        Column(title="size", kind="bytes"),
        Column(title="folder", kind="mono", wide=True),
    )
    rows = [(item.name, item.files, item.size_bytes, str(item.folder)) for item in items]
    return Table(id=f"{ident}-table", caption="", columns=columns, rows=rows)


def _amount(items: Sequence[Usage]) -> str:
    files, size = sum(item.files for item in items), sum(item.size_bytes for item in items)
    return f"{plural(files, 'file')}, {format_bytes(size)}"
