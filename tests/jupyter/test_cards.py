"""Cards are escaped, whole, small and fetch nothing, whatever a stranger's file is called."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser
from importlib.resources import files
from typing import Any

import pytest

import outlive
from outlive import demo_models
from outlive.finding import Evidence, Fault, Finding, Remedy, Severity, Tag
from outlive.kernel_deaths.record import KernelDeaths, Record
from outlive.meter import Point
from outlive.rendering.media.notebook import card_bundle, page_of_any
from outlive.rendering.page import Column, Page, PageVerdict, Section, Table
from outlive.rendering.pages.error import error_page
from outlive.verbs.blackbox import explain_death

EVIL = '<script>alert("x")</script><img src=x onerror=y> ${style} $body </style> &amp; \x1b[31m'


class Balance(HTMLParser):
    """Notes the tags, and those that are not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag == "br":
            return
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def assert_sound(html: str) -> None:
    """Every tag is closed and known; no script, no handler, nothing that is fetched."""
    page = Balance()
    page.feed(html)
    page.close()
    assert page.open == []
    known = {"div", "style", "pre", "span", "table", "tr", "td", "details", "summary", "svg", "text"}
    known |= {"p", "b", "i", "code", "ul", "ol", "li", "th", "thead", "tbody", "br"}
    assert {tag for tag, _ in page.seen} <= known | {"polyline", "line", "rect", "circle", "title"}
    for _, attributes in page.seen:
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "href")]
    assert not re.search(r"url\(|@import|https?://|<script", html)
    assert "\x1b" not in html
    assert len(html) < 60_000


def finding(text: str) -> Finding:
    return Finding(
        code="D504", name="x", severity=Severity.ERROR, headline=text, where=text, why=text,
        evidence=(Evidence(fact=text, source=text),), confidence=text, fault=Fault.FILE,
        remedies=(Remedy(action=text, tag=Tag.SAME_RESULTS, effect=text, command=text),),
    )  # fmt: skip


class PageCard:
    """The card of a page, of a result, or of a finding."""

    def __init__(self, result: Any) -> None:
        self._bundle = card_bundle(result if isinstance(result, Page) else page_of_any(result))

    def html(self) -> str:
        return self._bundle["text/html"]

    def plain(self) -> str:
        return self._bundle["text/plain"]


def evil_things() -> dict[str, Any]:
    model = outlive.read(demo_models.path("healthy"))
    plan = dataclasses.replace(outlive.plan(model), path=EVIL, unknown=(EVIL,))
    points = tuple(Point(seconds=n / 10, bytes=n * 1000, rss_bytes=0, mark=EVIL) for n in range(20))
    flight = outlive.Flight(
        died=True, stage=EVIL, signal="SIGSEGV", timeline=points, stderr_tail=EVIL, fault_trace=EVIL * 3000,
        frames=(EVIL,), stages=((EVIL, 0.1),),
    )  # fmt: skip
    record = Record(name="x", busy=True, cell_number=1, cell_source=EVIL, timeline=points, stderr_tail=EVIL,
                    fault_trace=f'  File "{EVIL}", line 1 in f', status=11)  # fmt: skip
    return {
        "finding": PageCard(finding(EVIL)),
        "plan": PageCard(plan),
        "flight": PageCard(flight),
        "death": PageCard(KernelDeaths(deaths=(explain_death(record),))),
        "error": PageCard(error_page(outlive.ModelDied(finding(EVIL), EVIL, flight=flight))),
        "model": PageCard(dataclasses.replace(model, path=EVIL, description=EVIL)),
    }


EVIL_THINGS = evil_things()


@pytest.mark.parametrize("name", EVIL_THINGS)
def test_what_a_file_says_is_shown_and_not_obeyed(name: str) -> None:
    html = EVIL_THINGS[name].html()
    assert_sound(html)
    assert "&lt;script&gt;" in html
    assert EVIL_THINGS[name].plain()


def test_a_card_says_what_the_text_says() -> None:
    card = PageCard(outlive.plan(demo_models.path("healthy")))
    said = re.sub(r"<style>.*?</style>|<[^>]+>", " ", card.html(), flags=re.DOTALL)
    for word in ("packed weights", "workspace", "peak", "Peak at operator"):
        assert word in said
        assert word in card.plain()


def test_the_verdict_comes_first_and_the_evidence_is_folded() -> None:
    html = PageCard(outlive.diagnose(demo_models.path("deadly"))).html()
    said = html.partition("</style>")[2]
    assert said.index("crashes: SIGSEGV in invoke") < said.index("Cause") < said.index("Evidence")
    assert "<details><summary>Evidence" in said
    assert '<details class="o-finding o-edge-bad" open>' in said


def test_of_many_findings_the_first_is_open() -> None:
    html = PageCard(outlive.check(demo_models.path("wasteful"))).html()
    assert html.count('<details class="o-finding o-edge-plain" open>') == 1
    assert html.count('<details class="o-finding o-edge-plain">') == 5


def test_the_card_of_a_comparison_names_both_files() -> None:
    drift = outlive.compare(demo_models.path("healthy"), demo_models.path("healthy_int8"))
    card = PageCard(drift)
    assert "<b>healthy_int8.tflite against healthy.tflite</b>" in card.html()
    for heading in ("Quantization error", "Outputs", "Error added by each layer", "SQNR of each layer"):
        assert heading in card.html()
    assert card.html().count("<svg") == 2
    assert_sound(card.html())


def test_columns_that_say_nothing_are_left_out() -> None:
    columns = tuple(Column(title=f"c{number}", detail=number % 2) for number in range(10))
    rows = [(1, 2, 3, None, "", 6, 7, 8, 9, 10)]
    section = Section(id="s", title="s", blocks=(Table(id="t", caption="x", columns=columns, rows=rows),))
    page = Page(title="x", kind="check", verdict=PageVerdict(tone="plain", word="w"), sections=(section,))
    html = PageCard(page).html()
    assert [name for name in (f"c{number}" for number in range(10)) if f">{name}<" in html] == [
        "c0", "c1", "c2", "c5", "c6", "c7", "c8", "c9",
    ]  # fmt: skip
    wide = dataclasses.replace(section.blocks[0], rows=[tuple(range(1, 11))])
    html = PageCard(
        dataclasses.replace(page, sections=(dataclasses.replace(section, blocks=(wide,)),))
    ).html()
    assert [f"c{number}" for number in range(10) if f">c{number}<" in html] == ["c0", "c2", "c4", "c6", "c8"]


def _flight(points: list[Point]) -> PageCard:
    return PageCard(outlive.Flight(died=True, stage="invoke", signal="SIGSEGV", timeline=tuple(points)))


def test_a_timeline_is_drawn_where_there_is_one() -> None:
    points = [Point(seconds=0.1 * n, bytes=n * 10**6, rss_bytes=0) for n in range(5)]
    assert "<polyline" in _flight(points).html()
    flat = [Point(seconds=float(n), bytes=0, rss_bytes=0) for n in range(5)]
    for nothing in (points[:2], [], flat):
        assert "<polyline" not in _flight(nothing).html()


def test_a_report_as_long_as_a_book_is_cut() -> None:
    rows = [(f"row {number}",) for number in range(100_000)]
    table = Table(id="t", caption="long", columns=(Column(title="x"),), rows=rows)
    section = Section(id="s", title="s", blocks=(table,))
    verdict = PageVerdict(tone="plain", word="long")
    html = PageCard(Page(title="x", kind="check", verdict=verdict, sections=(section,))).html()
    assert "and 99900 more" in html
    assert_sound(html)


def test_a_result_draws_itself_without_the_extension() -> None:
    plan = outlive.plan(demo_models.path("healthy"))
    assert plan._repr_html_() == PageCard(plan).html()


def test_front_ends_do_not_align_our_tables() -> None:
    """JupyterLab's `.jp-RenderedHTMLCommon:not(...) td` aligns to the right: ours has to weigh more."""
    style = files("outlive.rendering").joinpath("web/assets/card.css").read_text("utf-8")
    rules = style.replace("\n", "").split("}")
    laid_out = [rule for rule in rules if "text-align" in rule or "background:none" in rule]
    selectors = [rule.partition("{")[0] for rule in laid_out]
    each = [one for selector in selectors for one in selector.split(",")]
    tables = [one for one in each if one.split()[-1].startswith(("td", "th", "tr"))]
    assert len(tables) >= 3
    assert all(one.count(".outlive") == 3 for one in tables)
