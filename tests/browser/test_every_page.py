"""Every kind of report in a real browser: nothing goes wrong, nothing is fetched, all can use it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.chromium import CUT, PHONE, UNDRAWN, Visit, visit
from tests.browser.conftest import COMMANDS

Reports = Callable[[str], Path]
WIDTHS = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_opens_asks_nobody_and_is_for_all(browser: Any, reports: Reports, name: str) -> None:
    with visit(browser, reports(name)) as seen:
        seen.show_all()
        assert seen.said == []
        assert seen.strangers() == []
        assert seen.page.locator("h1").inner_text()
        assert seen.page.locator("section.verdict .word").inner_text().strip()
        document = seen.page.evaluate("JSON.parse(document.getElementById('outlive-document').textContent)")
        assert (document["schema"], document["kind"]) == ("outlive/1", name.partition("-")[0])
        assert serious(seen) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_a_phone_in_the_dark_shows_it_without_scrolling_sideways(
    browser: Any, reports: Reports, name: str
) -> None:
    with visit(browser, reports(name), size=PHONE, scheme="dark") as seen:
        seen.show_all()
        wide, there = seen.page.evaluate(WIDTHS)
        assert wide <= there
        assert seen.said == []
        if name in ("report-deadly", "compare"):  # between them, all colours there are
            assert serious(seen) == []


def serious(seen: Visit) -> list[tuple[str, list[str]]]:
    """What axe calls serious or critical, everything unfolded: the rule, and some elements."""
    from axe_playwright_python.sync_playwright import Axe

    seen.page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    found = Axe().run(seen.page).response
    assert len(found["passes"]) > 10, "axe looked at nothing"
    bad = [item for item in found["violations"] if item["impact"] in ("serious", "critical")]
    return [(item["id"], [node["html"][:200] for node in item["nodes"][:3]]) for item in bad]


def test_axe_would_find_something(browser: Any, reports: Reports, tmp_path: Path) -> None:
    planted = tmp_path / "planted.html"
    text = reports("leak").read_text("utf-8")
    planted.write_text(text.replace("</main>", "<button></button></main>"), "utf-8")
    with visit(browser, planted) as seen:
        assert [rule for rule, _ in serious(seen)] == ["button-name"]


def test_without_a_script_the_words_are_there(browser: Any, reports: Reports) -> None:
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(reports("report-deadly").as_uri())
        text = page.locator("main").inner_text()
        assert "SIGSEGV" in text
        assert "need JavaScript" in page.content()
        assert page.locator("article.finding").count() >= 1
    finally:
        context.close()


def test_it_prints_in_light_colours_with_all_charts(browser: Any, reports: Reports) -> None:
    with visit(browser, reports("report"), scheme="dark") as seen:
        seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert seen.page.evaluate("document.documentElement.dataset.theme") == "light"
        assert seen.page.evaluate(f"{UNDRAWN}.length") == 0
        seen.page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert seen.page.evaluate("document.documentElement.dataset.theme") is None
        assert len(seen.page.pdf(print_background=True)) > 10_000


@pytest.mark.parametrize("name", ["report", "report-int8", "fit", "check", "diagnose"])
def test_paper_has_every_chart_and_every_column(browser: Any, reports: Reports, name: str) -> None:
    hidden = "[...document.querySelectorAll('figure.chart')].filter((one) => !one.offsetParent).length"
    with visit(browser, reports(name)) as seen:
        seen.show_all()
        before = seen.page.evaluate(hidden)
        drawn = seen.page.evaluate("document.body.innerText")
        seen.page.emulate_media(media="print")
        seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert seen.page.evaluate(hidden) == 0
        assert seen.page.evaluate(f"{UNDRAWN}.length") == 0
        assert seen.page.evaluate("document.body.getBoundingClientRect().width") == 700  # of A4 and of Letter
        assert seen.page.evaluate(CUT) == []
        seen.page.evaluate("dispatchEvent(new Event('afterprint'))")
        seen.page.emulate_media(media="screen")
        assert seen.page.evaluate(hidden) == before
        assert seen.page.evaluate("document.body.innerText") == drawn
        assert seen.said == []
    if name == "report":
        assert before == 1  # one chart of a choice is covered by the other
