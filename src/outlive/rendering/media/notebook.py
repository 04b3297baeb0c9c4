"""A page as a card below a notebook's cell: one element with its own style, no script, nothing fetched."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from outlive.rendering import page_of
from outlive.rendering.media.html import templates
from outlive.rendering.page import NUMBERS

if TYPE_CHECKING:
    from markupsafe import Markup

    from outlive.rendering.page import Chart, Column, Page, Table

_MOST_ROWS = 100
_MOST_COLUMNS = 8
# Errors that are shown whole; of the others the headline.
_MOST_OPEN = 3


def card_html(page: Page) -> str:
    """The card: verdict first, evidence folded."""
    from markupsafe import Markup

    style = files("outlive.rendering").joinpath("web/assets/card.css").read_text("utf-8")
    made = templates().get_template("card.html.j2")
    return made.render(
        page=page, style=Markup(style), most_open=_MOST_OPEN, drawn=_drawn, look=_look, shown=_shown
    )


def page_of_any(thing: Any) -> Page:
    """The page of a result; a finding and a judgement, which have none of their own, share one."""
    from outlive.rendering.pages.finding import findings_page

    return page_of(thing) if hasattr(thing, "kind") else findings_page(getattr(thing, "findings", (thing,)))


def card_bundle(page: Page) -> dict[str, str]:
    """The card and the same as plain text, by media type: a front end takes what it can show."""
    import io

    from outlive.rendering.console import print_parts
    from outlive.rendering.media.text import draw_text

    text = io.StringIO()
    print_parts(draw_text(page), text)
    return {"text/html": card_html(page), "text/plain": text.getvalue().strip("\n")}


def _shown(table: Table) -> Table:
    """What a card has room for: the first rows, no empty columns, and none of -v where there are many."""
    rows = table.rows[:_MOST_ROWS]
    kept = [at for at in range(len(table.columns)) if any(row[at] not in (None, "") for row in rows)]
    if len(kept) > _MOST_COLUMNS:
        kept = [at for at in kept if not table.columns[at].detail]
    columns = tuple(table.columns[at] for at in kept)
    return replace(table, columns=columns, rows=[[row[at] for at in kept] for row in rows])


def _look(column: Column) -> Markup:
    """The class of a column's cells: short, for a table has thousands."""
    from markupsafe import Markup

    names = {"mono": "o-m", **dict.fromkeys(NUMBERS, "o-r")}
    classes = " ".join(filter(None, (names.get(column.kind), "o-w" if column.wide else "")))
    return Markup(f' class="{classes}"') if classes else Markup()


def _drawn(chart: Chart) -> Markup:
    from markupsafe import Markup

    from outlive.rendering.chart_drawing import chart_svg

    return Markup(chart_svg(chart))
