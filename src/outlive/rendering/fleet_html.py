"""A scan as one HTML page: the table of all files, to be sorted and filtered, and what it comes to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from outlive.fleet.comparing import Comparison
from outlive.fleet.rows import Row
from outlive.fleet.scanning import Scan, Tally
from outlive.names import safe
from outlive.rendering.fleet_json import scan_json
from outlive.rendering.fleet_tables import accelerators_in, why
from outlive.rendering.html.blocks import Block, Cell, Column, Page, Section, Table, Tile, Tone, Verdict
from outlive.rendering.html.page import render_page
from outlive.rendering.html.plan_blocks import TONES
from outlive.rules.catalogue import find_rule
from outlive.units import plural

_OUTCOMES = {
    "ran": "good", "sound": "good", "flawed": "warn", "broken": "warn", "unreadable": "warn",
    "too large": "warn", "refused": "warn", "hung": "bad", "died": "bad", "lost": "bad", "failed": "bad",
}  # fmt: skip
_TAKEN = {
    "runs": "good",
    "compiles": "good",
    "differs": "warn",
    "refused": "warn",
    "died": "bad",
    "ended": "bad",
}
_SEVERITIES = {"error": "bad", "warning": "warn"}
_PATH = 240


def scan_html(scan: Scan) -> str:
    """The page: verdict, numbers, all files, findings, and what got worse."""
    sections = [_all_files(scan), _findings(scan.tally)]
    if scan.comparison is not None:
        sections.insert(0, _worse(scan.comparison))
    page = Page(
        title=f"{plural(scan.tally.done, 'model')}, looked at",
        kind="scan",
        subtitle=f"on {scan.engine}",
        verdict=_verdict(scan),
        tiles=_tiles(scan.tally),
        sections=tuple(sections),
        document=scan_json(scan, list(scan.written), with_rows=False),
    )
    return render_page(page)


def _verdict(scan: Scan) -> Verdict:
    tally, found = scan.tally, scan.comparison
    if found is not None:
        tone: Tone = "bad" if found.worse else "good"
        told = f"{plural(found.worse, 'thing')} got worse" if found.worse else "nothing got worse"
        return Verdict(tone=tone, word=told, sentence=f"{plural(found.compared, 'file')} compared.")
    if tally.deaths:
        return Verdict(tone="bad", word=f"{plural(tally.deaths, 'model')} died or hung")
    bad = sum(count for name, count in tally.outcomes.items() if _OUTCOMES.get(name) != "good")
    if bad or tally.errors:
        words = f"{plural(max(bad, tally.errors), 'file')} with something wrong"
        return Verdict(tone="warn", word=words)
    return Verdict(tone="good", word="all well")


def _tiles(tally: Tally) -> tuple[Tile, ...]:
    tiles = [
        Tile(label=name, value=f"{count:,}", tone=_tone(name)) for name, count in tally.outcomes.most_common()
    ]
    for device, words in list(tally.fits.items())[:6]:
        fit = words["fits"] + words["tight"]
        tiles.append(Tile(label=device, value=f"{fit:,}", note=f"of {sum(words.values()):,} fit"))
    if tally.same:
        tiles.append(Tile(label="identical", value=f"{tally.same:,}", note="looked at once"))
    return tuple(tiles)


def _tone(name: str) -> Tone:
    found = _OUTCOMES.get(name, "plain")
    return "good" if found == "good" else "warn" if found == "warn" else "bad"


def _all_files(scan: Scan) -> Section:
    devices = [device.name for device in scan.order.devices]
    accelerators = accelerators_in(scan) if scan.order.delegates else ()
    columns = [
        Column(title="file", kind="mono", wide=True),
        Column(title="outcome", kind="chip", tones=_OUTCOMES),
        *(Column(title=name, kind="chip", tones=TONES) for name in devices),
        Column(title="planned peak", kind="bytes"),
    ]
    if scan.order.run:
        columns += [Column(title="measured peak", kind="bytes"), Column(title="ms", kind="number")]
    columns += [Column(title=name, kind="chip", tones=_TAKEN) for name in accelerators]
    columns += [
        Column(title="cause"),
        Column(title="why", wide=True),
        Column(title="errors", kind="number"),
        Column(title="warnings", kind="number"),
        Column(title="size", kind="bytes"),
        Column(title="operators", kind="number"),
        Column(title="codes", kind="mono"),
    ]
    rows = [_row(row, scan.order.run, devices, accelerators) for row in scan]
    table = Table(id="files", caption="all files", columns=tuple(columns), rows=rows)
    return Section(
        id="files", title="Files", blocks=(table,), lead="Click a heading to sort; type to filter."
    )


def _row(row: Row, ran: bool, devices: Sequence[str], accelerators: Iterable[str]) -> tuple[Cell, ...]:
    fits = {item.device: item.word for item in row.devices}
    taken = {item.name: item.outcome for item in row.accelerators}
    run = row.run
    measured: tuple[Cell, ...] = (None, None) if run is None else (run.peak_bytes, run.milliseconds)
    return (
        safe(row.path, _PATH),
        row.outcome,
        *(fits.get(name) for name in devices),
        row.peak_bytes,
        *(measured if ran else ()),
        *(taken.get(name) for name in accelerators),
        "" if row.death is None else row.death.cause,
        safe(why(row), _PATH),
        row.errors,
        row.warnings,
        row.file_bytes,
        row.operators,
        " ".join(row.codes),
    )


def _findings(tally: Tally) -> Section:
    rows = []
    for code, count in tally.codes.most_common():
        rule = find_rule(code)
        severity, words = ("", "") if rule is None else (rule.severity.value, rule.summary)
        rows.append((code, severity, count, words))
    columns = (
        Column(title="code", kind="mono"),
        Column(title="severity", kind="chip", tones=_SEVERITIES),
        Column(title="files", kind="number"),
        Column(title="what", wide=True),
    )
    table: Block = Table(id="findings", caption="findings by the number of files", columns=columns, rows=rows)
    return Section(id="findings", title="Findings", blocks=(table,), lead="How many files have each.")


def _worse(found: Comparison) -> Section:
    columns = (
        Column(title="file", kind="mono", wide=True),
        Column(title="what", kind="chip"),
        Column(title="was"),
        Column(title="is", wide=True),
    )
    rows = [(safe(item.path, _PATH), item.what, item.was, item.now) for item in found.regressions]
    table = Table(id="worse", caption="what got worse", columns=columns, rows=rows)
    old = safe(str(found.old_path), 120)
    lead = f"{plural(found.compared, 'file')} compared with {old}, {found.added:,} new, {found.gone:,} gone."
    return Section(id="worse", title="What got worse", blocks=(table,), lead=lead)
