"""A scan: what the files came to, which devices they fit, what ended badly, what got worse, and all files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from outlive.arena.plan import WORDS
from outlive.fleet import OUTCOMES, Row
from outlive.fleet.regressions import ScanComparison
from outlive.fleet.scanning import Scan, ScanCounts
from outlive.names import safe
from outlive.rendering import page as ui
from outlive.rendering.fleet_tables import accelerators_in, why
from outlive.rendering.pages.delegates import TONES as ACCELERATOR_TONES
from outlive.rendering.pages.plan import TONES
from outlive.rules import find_rule
from outlive.units import plural

_OUTCOMES = {
    "ran": "good", "sound": "good", "flawed": "warn", "broken": "warn", "unreadable": "warn",
    "too large": "warn", "refused": "warn", "hung": "bad", "died": "bad", "lost": "bad", "failed": "bad",
}  # fmt: skip
_SEVERITIES = {"error": "bad", "warning": "warn"}
_PATH = 240
# A terminal lists all files up to this many; of more, those that ended badly.
_ALL_ROWS = 40
_SHOWN = 30
_FITS = (*WORDS, "not planned")


class _Rows(Sequence[Sequence[ui.Cell]]):
    """Rows of a table that are read from disk when somebody looks at them, and not before."""

    def __init__(self, count: int, read: Callable[[], Iterable[Sequence[ui.Cell]]]) -> None:
        self._count, self._read = count, read

    @cached_property
    def _rows(self) -> list[Sequence[ui.Cell]]:
        return list(self._read())

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: Any) -> Any:
        return self._rows[place]


def page(scan: Scan) -> ui.Page:
    """The page: verdict, numbers, what got worse, what ended badly, findings, all files."""
    tally = scan.tally
    sections: list[ui.Section] = [] if scan.comparison is None else [_worse(scan.comparison)]
    if tally.done > _ALL_ROWS:
        sections += _ended_badly(scan)
    sections.append(_all_files(scan))
    sections += [*_devices(tally), *_causes(tally), *_findings(tally)]
    if scan.written:
        sections.append(ui.Section("written", "Written", (ui.Listing(scan.written),)))
    return ui.Page(
        title=plural(tally.done, "file"),
        kind="scan",
        verdict=_verdict(scan),
        tiles=_tiles(tally),
        sections=tuple(sections),
    )


def _verdict(scan: Scan) -> ui.PageVerdict:
    tally, found = scan.tally, scan.comparison
    said = " ".join((_outcomes(tally), _beside(tally, scan.engine)))
    if found is not None:
        tone: ui.Tone = "bad" if found.worse else "good"
        text = plural(found.worse, "regression") if found.worse else "no regressions"
        return ui.PageVerdict(tone, text, said)
    if tally.deaths:
        return ui.PageVerdict("bad", f"{plural(tally.deaths, 'model')} crashed or hung", said)
    bad = sum(count for name, count in tally.outcomes.items() if _OUTCOMES.get(name) != "good")
    if bad or tally.errors:
        words = f"{plural(max(bad, tally.errors), 'file')} with errors"
        return ui.PageVerdict("warn", words, said)
    return ui.PageVerdict("good", "all well", said)


def _outcomes(tally: ScanCounts) -> str:
    return ", ".join(f"{tally.outcomes[name]:,} {name}" for name in OUTCOMES if tally.outcomes[name]) + "."


def _beside(tally: ScanCounts, engine: str) -> str:
    words = [f"Done on {safe(engine, 80)}"]
    if tally.same:
        words.append(f"{plural(tally.same, 'identical file')}, scanned once")
    if tally.from_cache:
        words.append(f"{tally.from_cache:,} from an earlier scan")
    if tally.resumed:
        words.append(f"{tally.resumed:,} done before the scan was resumed")
    return ", ".join(words) + "."


def _tiles(tally: ScanCounts) -> tuple[ui.Tile, ...]:
    tiles = [ui.Tile(name, f"{count:,}", tone=_tone(name)) for name, count in tally.outcomes.most_common()]
    for device, words in list(tally.fits.items())[:6]:
        fit = words["fits"] + words["tight"]
        tiles.append(ui.Tile(device, f"{fit:,}", f"of {sum(words.values()):,} fit"))
    if tally.same:
        tiles.append(ui.Tile("identical", f"{tally.same:,}", "scanned once"))
    return tuple(tiles)


def _tone(name: str) -> ui.Tone:
    found = _OUTCOMES.get(name, "plain")
    return "good" if found == "good" else "warn" if found == "warn" else "bad"


def _all_files(scan: Scan) -> ui.Section:
    devices = [device.name for device in scan.order.devices]
    accelerators = tuple(accelerators_in(scan)) if scan.order.delegates else ()
    columns = [
        *ui.columns(
            "file: mono wide",
            ui.Column("outcome", "chip", _OUTCOMES),
            *(ui.Column(name, "chip", TONES) for name in devices),
            "planned peak: bytes",
        )
    ]
    if scan.order.run:
        columns += [*ui.columns("measured peak: bytes | ms: number")]
    columns += [ui.Column(name, "chip", ACCELERATOR_TONES) for name in accelerators]
    columns += [
        *ui.columns(
            "cause: -v | why: wide | errors: number | warnings: number | size: bytes -v",
            "operators: number -vv | codes: mono -vv",
        )
    ]

    def read() -> Iterator[tuple[ui.Cell, ...]]:
        return (_row(row, scan.order.run, devices, accelerators) for row in scan)

    rows = _Rows(len(scan), read)
    table = ui.Table("files", "all files", tuple(columns), rows, brief=_ALL_ROWS)
    return ui.Section("files", "Files", (table,), detail=0 if len(scan) <= _ALL_ROWS else 1)


def _row(row: Row, ran: bool, devices: Sequence[str], accelerators: Iterable[str]) -> tuple[ui.Cell, ...]:
    fits = {item.device: item.word for item in row.devices}
    taken = {item.name: item.outcome for item in row.accelerators}
    run = row.run
    measured: tuple[ui.Cell, ...] = (None, None) if run is None else (run.peak_bytes, run.milliseconds)
    return (
        safe(row.path, _PATH),
        row.outcome,
        *(fits.get(name) for name in devices),
        row.peak_bytes,
        *(measured if ran else ()),
        *(taken.get(name) for name in accelerators),
        "" if row.death is None else row.death.cause,
        safe(why(row), _PATH),
        row.errors or None,
        row.warnings or None,
        row.file_bytes,
        row.operators,
        " ".join(row.codes),
    )


def _ended_badly(scan: Scan) -> Iterator[ui.Section]:
    """What did not go well, each once; the first of them where there are many."""
    rows: list[tuple[ui.Cell, ...]] = []
    count = 0
    for row in scan:
        if _OUTCOMES.get(row.outcome) != "good" and row.same_as is None:
            count += 1
            if count <= _SHOWN:
                rows.append(_bad(row))
    if not count:
        return
    columns = ui.columns(
        "file: mono wide", ui.Column("outcome", "chip", _OUTCOMES), "cause | where | why: wide"
    )
    blocks: list[ui.Block] = [ui.Table("bad", "Each cause once", columns, rows, brief=_SHOWN)]
    if count > _SHOWN:
        blocks.append(ui.Words(f"and {count - _SHOWN:,} more: write them with -o results.html or .csv"))
    yield ui.Section("bad", "Problems", tuple(blocks))


def _bad(row: Row) -> tuple[ui.Cell, ...]:
    death = row.death
    where = "" if death is None else ", ".join(filter(None, (death.signal, death.stage, death.op)))
    return (
        safe(row.path, _PATH),
        row.outcome,
        "" if death is None else death.cause,
        where,
        safe(why(row), _PATH),
    )


def _devices(tally: ScanCounts) -> Iterator[ui.Section]:
    if not tally.fits:
        return
    words = [word for word in _FITS if any(counts[word] for counts in tally.fits.values())]
    table = ui.Table(
        "devices",
        "Files that fit each device",
        ui.columns("device", *(ui.Column(word, "number") for word in words)),
        [(device, *(counts[word] for word in words)) for device, counts in tally.fits.items()],
    )
    yield ui.Section("devices", "Devices", (table,))


def _causes(tally: ScanCounts) -> Iterator[ui.Section]:
    if tally.causes:
        text = ", ".join(f"{cause} {count:,}" for cause, count in tally.causes.most_common())
        yield ui.Section("causes", "Causes", (ui.Words(text),))


def _findings(tally: ScanCounts) -> Iterator[ui.Section]:
    rows: list[tuple[ui.Cell, ...]] = []
    for code, count in sorted(tally.codes.items(), key=lambda item: (_weight(item[0]), -item[1], item[0])):
        rule = find_rule(code)
        severity, words = ("", "") if rule is None else (rule.severity.value, rule.summary)
        rows.append((code, severity, count, words))
    columns = ui.columns(
        "code: mono", ui.Column("severity", "chip", _SEVERITIES), "files: number | what: wide"
    )
    if rows:
        table = ui.Table("findings", "By number of files", columns, rows)
        yield ui.Section("findings", "Findings", (table,))


def _weight(code: str) -> int:
    rule = find_rule(code)
    return 3 if rule is None else ("error", "warning", "note").index(rule.severity.value)


def _worse(found: ScanComparison) -> ui.Section:
    columns = ui.columns("file: mono wide | what: chip | was | is: wide")
    rows = [(safe(item.path, _PATH), item.what, item.was, item.now) for item in found.regressions]
    table = ui.Table("worse", "Regressions", columns, rows)
    old = safe(str(found.old_path), 120)
    lead = f"{plural(found.compared, 'file')} compared with {old}, {found.added:,} new, {found.gone:,} gone."
    return ui.Section("worse", "Regressions", (table,), lead=lead)
