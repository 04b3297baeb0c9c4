"""Charts without a script: what is drawn lies where its values are, inside of the drawing, and is escaped."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest

import outlive
from outlive import demo_models
from outlive.rendering import page as ui
from outlive.rendering import page_of
from outlive.rendering.chart_drawing import WIDTH, chart_svg
from outlive.rendering.media.html import blocks_of

EVIL = "<script>'\"&\x1b[31m"


def chart(data: dict[str, Any], title: str = "a chart") -> ui.Chart:
    return ui.Chart("id", title, "words", data)


def drawn(data: dict[str, Any]) -> ElementTree.Element:
    return ElementTree.fromstring(chart_svg(chart(data, EVIL)))


def bars(values: list[float | None], **more: Any) -> dict[str, Any]:
    labels = [f"{EVIL} {number}" for number in range(len(values))]
    curve = ui.curve("c", "0", "bars", values)
    return ui.lines(range(len(values)), ("op", EVIL), ("bytes", EVIL), curve, labels=labels, **more)


def line(values: list[float | None], style: str = "line", **more: Any) -> dict[str, Any]:
    curve = ui.curve("c", "1", style, values)
    return ui.lines(range(len(values)), ("seconds", "time"), ("number", "n"), curve, **more)


def points(*places: tuple[float, float]) -> dict[str, Any]:
    rows = [
        {"x": x, "y": y, "name": EVIL, "tone": "good", "front": True, "chosen": not at, "words": [EVIL]}
        for at, (x, y) in enumerate(places)
    ]
    axes = {"x_kind": "bytes", "x_name": "memory", "y_kind": "share", "y_name": "loss"}
    return {"kind": "points", "points": rows, "moments": [{"x": 4e5, "name": EVIL}], **axes}


def attributes(root: ElementTree.Element, tag: str, name: str) -> list[float]:
    return [float(one.attrib[name]) for one in root.iter(tag)]


def test_bars_are_as_high_as_their_values() -> None:
    root = drawn(bars([1024, 0, 4096, None, 2048], worst={"x": 2, "y": 4096, "name": EVIL}))
    low, high, middle = attributes(root, "rect", "height")
    assert high == pytest.approx(4 * low, abs=0.3)
    assert middle == pytest.approx(2 * low, abs=0.3)
    assert next(one.text for one in root.iter("title")) == "<script>'\"&\\x1b[31m 0: 1.00 KiB"


def test_thousands_of_bars_are_drawn_by_their_highest() -> None:
    values: list[float | None] = [1.0] * 50_000
    values[30_000] = 9.0
    svg = chart_svg(chart(bars(values)))
    assert len(svg) < 60_000
    heights = attributes(ElementTree.fromstring(svg), "rect", "height")
    assert max(heights) == pytest.approx(9 * min(heights), rel=0.05)


def test_a_line_has_gaps_where_values_are_missing() -> None:
    root = drawn(line([1.0, 2.0, None, 3.0, None, 5.0, 4.0]))
    assert len(list(root.iter("circle"))) == 1  # alone between two gaps
    assert len([one for one in root.iter("polyline") if len(one.attrib["points"].split()) > 1]) == 2


@pytest.mark.parametrize(
    "data",
    [
        line([]),
        line([1.0, 2.0]),
        line([0.0, 0.0, 0.0, 0.0]),
        line([None, None, None]),
        bars([]),
        points(),
        {"kind": "map", "most": 0, "x_span": [0, 1]},
    ],
)
def test_where_there_is_nothing_to_see_nothing_is_drawn(data: dict[str, Any]) -> None:
    assert chart_svg(chart(data)) == ""


@pytest.mark.parametrize(
    "data",
    [
        line([-3.0, 5.0, 2.0], "area", levels=[{"y": 6, "name": EVIL}], shades=[{"start": 0, "end": 1}]),
        line([1e-9, 2e-9, 3e-9], "dash", moments=[{"x": 1, "name": EVIL * 40}] * 99),
        line([1e300, 2e300, 0.0]),
        bars([3.0]),
        bars([2.0**62, 1.0], x_labels=[EVIL, EVIL]),
        points((300_000, 0.0), (500_000, 0.0)),
        points((300_000, 0.25), (200_000, 0.5), (200_000, -0.5)),
        points((0, 0)),
    ],
)
def test_all_of_it_lies_inside_and_is_escaped(data: dict[str, Any]) -> None:
    root = drawn(data)
    tall = float(root.attrib["height"])
    for tag, across, up in (("rect", "x", "y"), ("circle", "cx", "cy"), ("text", "x", "y")):
        assert all(0 <= x <= WIDTH for x in attributes(root, tag, across)), tag
        assert all(0 <= y <= tall for y in attributes(root, tag, up)), tag
    for one in root.iter("polyline"):
        pairs = [pair.split(",") for pair in one.attrib["points"].split()]
        assert all(0 <= float(x) <= WIDTH and 0 <= float(y) <= tall for x, y in pairs)
    assert "\x1b" not in "".join(root.itertext())


@pytest.mark.parametrize(
    "result",
    [
        lambda: outlive.plan(demo_models.path("healthy")),
        lambda: outlive.plan(demo_models.path("healthy"), accelerator="tflm"),
        lambda: outlive.run(demo_models.path("healthy")),
        lambda: outlive.compare(demo_models.path("healthy"), demo_models.path("healthy_int8")),
    ],
)
def test_every_chart_of_a_result_is_drawn(result: Any) -> None:
    charts = [block for block in blocks_of(page_of(result())) if isinstance(block, ui.Chart)]
    assert charts
    for one in charts:
        svg = chart_svg(one)
        ElementTree.fromstring(svg)
        assert re.search(r"<(rect|polyline)", svg), one.title
