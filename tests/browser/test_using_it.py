"""A report is used as a reader would: hovered, zoomed, sorted, filtered, walked with the keyboard, copied."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.chromium import Visit, visit

Reports = Callable[[str], Path]


@pytest.fixture
def report(browser: Any, reports: Reports) -> Iterator[Visit]:
    with visit(browser, reports("report")) as seen:
        seen.show_all()
        yield seen
        assert seen.said == []


def _middle(seen: Visit, chart: str, across: float, down: float = 0.5) -> tuple[float, float]:
    over = seen.page.locator(f"[data-chart={chart}] .u-over")
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    return box["x"] + box["width"] * across, box["y"] + box["height"] * down


def test_hovering_tells_the_operator_and_its_bytes(report: Visit) -> None:
    report.page.mouse.move(*_middle(report, "alive", 0.02))
    tip = report.page.locator("[data-chart=alive] .tip")
    first = tip.inner_text()
    assert first.startswith("op 0 CONV_2D")
    assert "alive:" in first
    report.page.mouse.move(*_middle(report, "alive", 0.98))
    assert tip.inner_text() != first


def test_the_worst_moment_is_told_and_marked(report: Visit) -> None:
    document = report.page.evaluate("JSON.parse(document.getElementById('outlive-document').textContent)")
    worst = max(document["plan"]["ops"], key=lambda op: op["live_bytes"])
    assert f"operator {worst['index']}, {worst['type']}" in report.page.locator("#alive-summary").inner_text()
    drawn = report.page.evaluate(
        "JSON.parse(document.getElementById('outlive-drawn').textContent).charts.alive"
    )
    assert drawn["worst"]["y"] == worst["live_bytes"]


def test_planned_stands_beside_measured(report: Visit) -> None:
    drawn = report.page.evaluate("JSON.parse(document.getElementById('outlive-drawn').textContent).charts")
    assert [one["name"] for one in drawn["over-time"]["series"]] == ["measured", "planned"]
    legend = report.page.locator("[data-chart=over-time] .legend").inner_text()
    assert "measured" in legend
    assert "planned" in legend


def test_dragging_zooms_and_a_double_click_shows_all(report: Visit) -> None:
    plot = report.page.locator("[data-chart=alive]")
    report.page.mouse.move(*_middle(report, "alive", 0.3))
    report.page.mouse.down()
    report.page.mouse.move(*_middle(report, "alive", 0.6), steps=5)
    report.page.mouse.up()
    assert plot.get_attribute("data-zoomed") == "true"
    report.page.mouse.dblclick(*_middle(report, "alive", 0.5))
    assert plot.get_attribute("data-zoomed") == "false"


def test_the_buttons_zoom_too(report: Visit) -> None:
    plot = report.page.locator("[data-chart=over-time]")
    plot.get_by_role("button", name="Zoom in").click()
    assert plot.get_attribute("data-zoomed") == "true"
    plot.get_by_role("button", name="Later part").click()
    plot.get_by_role("button", name="Show all of it").click()
    assert plot.get_attribute("data-zoomed") == "false"


def test_the_map_of_the_arena_names_a_tensor(browser: Any, reports: Reports) -> None:
    with visit(browser, reports("plan")) as seen:
        seen.show_all()
        # Nearly all of this arena belongs to one tensor: somewhere in the middle there is a box.
        told = ""
        for across in (0.3, 0.5, 0.7):
            seen.page.mouse.move(*_middle(seen, "arena-map", across, 0.75))
            told += seen.page.locator("[data-chart=arena-map] .tip").inner_text()
        assert "bytes) at" in told
        assert "op" in told


def test_the_keyboard_walks_along_a_chart_and_says_what_is_there(report: Visit) -> None:
    area = report.page.locator("[data-chart=alive] .area")
    area.focus()
    report.page.keyboard.press("ArrowRight")
    assert report.page.locator("#spoken").inner_text().startswith("op 0 CONV_2D")
    report.page.keyboard.press("ArrowRight")
    assert report.page.locator("#spoken").inner_text().startswith("op 1 ")
    report.page.keyboard.press("+")
    assert report.page.locator("[data-chart=alive]").get_attribute("data-zoomed") == "true"
    report.page.keyboard.press("0")
    assert report.page.locator("[data-chart=alive]").get_attribute("data-zoomed") == "false"


def test_a_table_is_sorted_by_its_titles(report: Visit) -> None:
    table = report.page.locator("#ops")
    cells = table.locator("tbody tr td:nth-child(6)")

    def sizes() -> list[float]:
        return [float(cell.get_attribute("data-sort") or "nan") for cell in cells.all()]

    before = sizes()
    title = table.get_by_role("button", name="output bytes")
    title.click()
    assert sizes() == sorted(before)
    title.click()
    assert sizes() == sorted(before, reverse=True)
    assert table.locator("th[aria-sort=descending]").inner_text().strip() == "output bytes"


def test_a_table_is_filtered_by_words(report: Visit) -> None:
    holder = report.page.locator(".table", has=report.page.locator("#ops"))
    holder.locator("input").fill("conv_2d")
    shown = holder.locator("tbody tr:visible")
    kinds = [row.locator("td").nth(1).inner_text() for row in shown.all()]
    assert kinds
    assert all("CONV_2D" in kind for kind in kinds)
    assert " of " in holder.locator(".count").inner_text()
    holder.locator("input").fill("nothing is called so")
    assert shown.count() == 0


def test_colours_are_chosen_and_kept(report: Visit) -> None:
    root = "getComputedStyle(document.body).backgroundColor"
    light = report.page.evaluate(root)
    button = report.page.locator("#theme")
    for word in ("Light", "Dark"):
        button.click()
        assert button.inner_text() == word
    assert report.page.evaluate(root) != light
    report.page.reload()
    assert report.page.locator("#theme").inner_text() == "Dark"


def test_a_command_is_copied(browser: Any, reports: Reports) -> None:
    with visit(browser, reports("report")) as seen:
        seen.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        block = seen.page.locator("#more .copy").first
        block.get_by_role("button").click()
        block.get_by_role("button", name="Copy").wait_for()
        assert seen.page.evaluate("navigator.clipboard.readText()") == block.locator("code").inner_text()


def test_the_document_is_saved_whole(report: Visit, tmp_path: Path) -> None:
    with report.page.expect_download() as waiting:
        report.page.locator("#save-json").click()
    path = tmp_path / "saved.json"
    waiting.value.save_as(path)
    saved = json.loads(path.read_text("utf-8"))
    assert saved["kind"] == "report"
    assert saved["plan"]["kind"] == "plan"
    assert saved["run"]["died"] is False


def test_the_skip_link_comes_first(report: Visit) -> None:
    report.page.keyboard.press("Tab")
    assert report.page.evaluate("document.activeElement.className") == "skip"
    report.page.keyboard.press("Enter")
    assert report.page.evaluate("location.hash") == "#main"
