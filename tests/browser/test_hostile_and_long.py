"""Names that attack do nothing, and ten thousand operators scroll."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from outlive.cli.main import main
from outlive.rendering.media.html import render_html
from outlive.rendering.page import Column, Page, PageVerdict, Section, Table
from tests.browser.chromium import CUT, visit
from tests.browser.models import hostile_model, long_model


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    page = folder / "hostile.html"
    assert main(["report", str(hostile_model(folder)), "-o", str(page)]) in (0, 1)
    return page


@pytest.fixture(scope="module")
def long_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("long")
    page = folder / "long.html"
    model = long_model(folder, 10_000)
    assert (
        main(["plan", str(model), "--accelerator", "builtin", "--format", "html", "--output", str(page)]) == 0
    )
    return page


def test_hostile_names_do_nothing(browser: Any, hostile: Path) -> None:
    with visit(browser, hostile) as seen:
        seen.show_all()
        assert seen.page.evaluate("window.hacked") is None
        assert seen.said == []
        assert seen.strangers() == []
        assert seen.page.locator("main img, main svg, main b, main iframe").count() == 0
        assert seen.page.locator("script").count() == 3
        text = seen.page.locator("#operators").inner_text()
        assert "<img src=x onerror='window.hacked = 2'>" in text
        assert "\\u202egnp.exe" in text
        assert "\u202e" not in text
        assert "\u2028" not in text


def test_a_name_of_a_megabyte_costs_little(hostile: Path) -> None:
    assert hostile.stat().st_size < 400_000


@pytest.mark.parametrize(
    "markup",
    [
        "<script>window.hacked = 1</script>",
        "<img src='data:image/png,x' onerror='window.hacked = 1'>",
        "<svg onload='window.hacked = 1'></svg>",
        "<a id='lure' href='javascript:window.hacked = 1'>x</a>",
    ],
)
def test_the_policy_stops_what_would_get_in(browser: Any, hostile: Path, tmp_path: Path, markup: str) -> None:
    """The second wall: were a name ever written as markup, it still could not run."""
    planted = tmp_path / "planted.html"
    text = hostile.read_text("utf-8")
    planted.write_text(text.replace("</main>", f"{markup}</main>"), "utf-8")
    with visit(browser, planted) as seen:
        if "lure" in markup:
            seen.page.locator("#lure").click()
        seen.page.wait_for_timeout(100)
        assert seen.page.evaluate("window.hacked") is None
        assert any("Content Security Policy" in said or "violates" in said for said in seen.said)


def test_the_policy_stops_requests(browser: Any, hostile: Path, tmp_path: Path) -> None:
    planted = tmp_path / "planted.html"
    markup = "<img src='https://example.com/a.png'><link rel='stylesheet' href='https://example.com/a.css'>"
    planted.write_text(hostile.read_text("utf-8").replace("</main>", f"{markup}</main>"), "utf-8")
    with visit(browser, planted) as seen:
        seen.page.wait_for_timeout(100)
        assert sum("Content Security Policy" in said for said in seen.said) >= 2


def test_ten_thousand_operators_are_there_and_few_are_drawn(browser: Any, long_page: Path) -> None:
    with visit(browser, long_page) as seen:
        window = seen.page.locator("[data-table=ops] .window")
        window.scroll_into_view_if_needed()
        assert window.get_attribute("aria-rowcount") == "10001"
        rows = window.locator(".body .row")
        assert rows.count() < 100
        assert rows.first.locator(".cell").nth(0).inner_text() == "0"
        window.evaluate("(it) => { it.scrollTop = it.scrollHeight; }")
        seen.wait_until(
            "document.querySelector('[data-table=ops] .body .row:last-child').innerText.startsWith('9,999')"
        )
        assert rows.count() < 100
        assert seen.said == []


def test_ten_thousand_operators_are_sorted_and_filtered(browser: Any, long_page: Path) -> None:
    with visit(browser, long_page) as seen:
        holder = seen.page.locator("[data-table=ops]")
        holder.scroll_into_view_if_needed()
        first = holder.locator(".body .row").first.locator(".cell").first
        title = holder.get_by_role("button", name="op", exact=True)
        title.click()
        title.click()
        assert first.inner_text() == "9,999"
        holder.locator("input").fill("block_99/layer_7/")
        assert holder.locator(".count").inner_text() == "1 of 10,000 rows"
        assert holder.locator(".body .row").count() == 1
        assert "block_99/layer_7/activation" in holder.locator(".body .row").inner_text()


def test_ten_thousand_operators_are_hovered_and_zoomed(browser: Any, long_page: Path) -> None:
    with visit(browser, long_page) as seen:
        seen.show_all()
        plot = seen.page.locator("[data-chart=alive]")
        plot.get_by_role("button", name="Zoom in").click()
        assert plot.get_attribute("data-zoomed") == "true"
        plot.locator(".u-over").scroll_into_view_if_needed()
        box = plot.locator(".u-over").bounding_box()
        seen.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert plot.locator(".tip").inner_text().startswith("op ")
        assert seen.said == []


def test_its_page_is_not_too_large(long_page: Path) -> None:
    assert long_page.stat().st_size < 10_000_000


def test_paper_says_how_many_rows_it_leaves_out(browser: Any, long_page: Path) -> None:
    with visit(browser, long_page) as seen:
        rest = seen.page.locator("[data-table=ops] .rest")
        assert not rest.is_visible()
        seen.page.emulate_media(media="print")
        seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert seen.page.locator("[data-table=ops] .body .row").count() == 2_000
        assert rest.is_visible()
        assert rest.inner_text() == "The first 2,000 of 10,000 rows."
        # Nothing that notices the new size takes rows away again before they are on paper.
        seen.page.evaluate("new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")
        assert seen.page.locator("[data-table=ops] .body .row").count() == 2_000
        assert (
            seen.page.locator("[data-table=ops] .window").evaluate("(it) => it.scrollWidth - it.clientWidth")
            <= 0
        )
        seen.page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert not rest.is_visible()
        assert seen.page.locator("[data-table=ops] .body .row").count() < 100


def test_what_is_infinite_is_a_number_in_a_long_table(browser: Any, tmp_path: Path) -> None:
    values = [math.inf, 5.0, -math.inf, math.nan, 30.0, None] * 12
    columns = (Column(title="name"), Column(title="noise", kind="number"))
    path = table_page(
        tmp_path, Table(id="t", caption="t", columns=columns, rows=[("Infinity", v) for v in values])
    )
    with visit(browser, path) as seen:
        seen.page.emulate_media(media="print")
        seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        title = seen.page.locator("[data-table=t] .head button").nth(1)
        rows_drawn = "[...document.querySelectorAll('[data-table=t] .body .row')]"
        for order in (["minus infinite", "5", "30", "infinite"], ["infinite", "30", "5", "minus infinite"]):
            title.evaluate("(it) => it.click()")
            seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
            shown = seen.page.evaluate(f"{rows_drawn}.map((row) => row.children[1].textContent)")
            assert list(dict.fromkeys(shown[:48])) == order
            assert set(shown[48:]) == {"not a number", ""}
        assert seen.page.locator("[data-table=t] .body .row .cell").first.inner_text() == "Infinity"
        assert seen.said == []


@pytest.mark.parametrize("count", [4, 14])
def test_paper_has_all_columns_of_a_long_table(browser: Any, tmp_path: Path, count: int) -> None:
    names = [
        f"model_1/model/re_lu_{at}/Relu6;model_1/model/batch_norm;conv2d_{at}/Conv2D" for at in range(70)
    ]
    numbers = [Column(title=f"signal to noise {at}, dB", kind="number") for at in range(count)]
    columns = (Column(title="tensor", kind="mono", wide=True), *numbers, Column(title="ran on", kind="chip"))
    rows = [(name, *(1234.5678 * at for at in range(count)), "XNNPACK") for name in names]
    path = table_page(tmp_path, Table(id="t", caption="t", columns=columns, rows=rows))
    with visit(browser, path) as seen:
        assert seen.page.evaluate(CUT) != []  # on a screen it is scrolled, and long names are cut
        seen.page.emulate_media(media="print")
        seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert seen.page.locator("[data-table=t] .body .row").count() == 70
        assert seen.page.evaluate(CUT) == []
        window = seen.page.locator("[data-table=t] .window")
        assert window.evaluate("(it) => it.scrollHeight - it.clientHeight") <= 0
        assert seen.said == []


def table_page(folder: Path, table: Table) -> Path:
    section = Section(id="s", title="s", blocks=(table,))
    verdict = PageVerdict(tone="plain", word="x")
    page = Page(title="x", kind="compare", verdict=verdict, sections=(section,))
    path = folder / "page.html"
    path.write_text(render_html(page, {}), "utf-8")
    return path
