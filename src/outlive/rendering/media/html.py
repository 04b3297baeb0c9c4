"""A page as one HTML file: the templates filled, style and script inside, and a policy that allows only them.

Page ── templates/*.j2 (autoescape, every text through `safe`) ──┐
assets/*.css, vendor/uplot ── one <style> ──── sha256 ──┐        ├──> one file
assets/*.js,  vendor/uplot ── one <script> ─── sha256 ──┴ CSP ───┤
document, charts, long tables ── inert JSON ─────────────────────┘
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime, timezone
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from outlive.names import safe, sentence, shorten, whole
from outlive.rendering import page as ui
from outlive.units import format_bytes

if TYPE_CHECKING:
    from jinja2 import Environment

# More rows than this are drawn by the script as they are scrolled: a browser is slow with thousands.
MOST_PLAIN_ROWS = 60
# No name says more after this many characters, and a hostile one may have a million.
LONGEST_NAME = 2_000
# A log or a stack, which the records bound themselves.
LONGEST_TEXT = 20_000
_STYLES = ("vendor/uplot/uPlot.min.css", "assets/page.css", "assets/blocks.css")
_SCRIPTS = (
    "vendor/uplot/uPlot.iife.min.js",
    "assets/words.js",
    "assets/charts.js",
    "assets/chart_kinds.js",
    "assets/tables.js",
    "assets/page.js",
)


def render_html(page: ui.Page, document: Mapping[str, Any]) -> str:
    """The page as one HTML file that fetches nothing; `document` is embedded, inert."""
    from markupsafe import Markup

    style, script = _joined(_STYLES), _joined(_SCRIPTS)
    return (
        templates()
        .get_template("page.html.j2")
        .render(
            page=page,
            policy=_policy(style, script),
            style=Markup(style),
            script=Markup(script),
            document=Markup(embed(document)),
            drawn=Markup(embed(_drawn(page))),
            made=datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        )
    )


def embed(value: object) -> str:
    """JSON for a `<script type="application/json">`: nothing in it can end the element or be run.

    Strings that are longer than any name are cut in the middle.
    """
    text = json.dumps(_bounded(value), allow_nan=False, separators=(",", ":"), default=str)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _bounded(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, memoryview):
        return {"bytes": value.nbytes}
    if isinstance(value, str):
        # A lone surrogate is no text that a browser would read back.
        clean = value.encode("utf-8", "backslashreplace").decode("utf-8")
        return shorten(clean, LONGEST_TEXT if "\n" in clean else LONGEST_NAME)
    if isinstance(value, Mapping):
        return {str(_bounded(str(key))): _bounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_bounded(item) for item in value]
    return value


def blocks_of(page: ui.Page) -> Iterator[ui.Block]:
    """All blocks, with those inside others."""
    for section in page.sections:
        for block in section.blocks:
            yield block
            charts = block.charts if isinstance(block, ui.Choice) else ()
            yield from charts
            drawn = (one for one in (block, *charts) if isinstance(one, ui.Chart))
            yield from filter(None, (chart.table for chart in drawn))


def _drawn(page: ui.Page) -> Mapping[str, Any]:
    """What the script draws: charts, and the tables that are too long to be written out."""
    blocks = list(blocks_of(page))
    charts = {block.id: block.data for block in blocks if isinstance(block, ui.Chart)}
    tables = {
        block.id: {"columns": [asdict(column) for column in block.columns], "rows": _safe_rows(block)}
        for block in blocks
        if isinstance(block, ui.Table) and is_long(block)
    }
    return {"charts": charts, "tables": tables}


def is_long(table: ui.Table) -> bool:
    """True if the script draws it."""
    return len(table.rows) > MOST_PLAIN_ROWS


def _safe_rows(table: ui.Table) -> list[list[object]]:
    return [[safe(cell, 300) if isinstance(cell, str) else cell for cell in row] for row in table.rows]


def _policy(style: str, script: str) -> str:
    """Only this script and this style run; nothing is fetched, sent, framed or written as markup."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _joined(names: tuple[str, ...]) -> str:
    here = files("outlive.rendering").joinpath("web")
    return "\n".join(here.joinpath(name).read_text("utf-8") for name in names)


@cache
def templates() -> Environment:
    """The templates, with filters that make every text safe."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("outlive.rendering", "web/templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Not by the name `safe`: that is Jinja's word for text that is trusted.
    made.filters.update(clean=safe, whole=whole, sentence=sentence, lines=_lines, bytes=format_bytes)
    made.tests["long"] = is_long
    made.globals.update(
        bar_width=_bar_width, cell_text=ui.cell_text, sort_key=ui.sort_key, tone_of=_tone_of, kind_of=_kind_of
    )
    return made


def _kind_of(block: ui.Block) -> str:
    return type(block).__name__.lower()


def _lines(text: str) -> str:
    """Text of several lines, each made safe; the end of what is too long."""
    kept = text[-LONGEST_TEXT:]
    return "\n".join(safe(line) for line in kept.splitlines())


def _tone_of(column: ui.Column, value: ui.Cell) -> str:
    """The colour of a chip."""
    return column.tones.get(str(value), "plain")


def _bar_width(table: ui.Table, column: int, value: ui.Cell) -> str:
    """How long a bar is, in hundredths of the longest in its column."""
    return f"{100 * ui.bar_share(table, column, value):.1f}"
