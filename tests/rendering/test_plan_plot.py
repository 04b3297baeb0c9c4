"""Pictures of plans: sound XML, boxes where the bytes are, hostile names harmless."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from outlive.arena.plan import OpLoad, Plan
from outlive.rendering.picture import HEIGHT, WIDTH, RectMark, check_plot, plot, svg
from outlive.rendering.plots.plan import marks
from tests.arena.sketches import PLACES, place, refused, sketch
from tests.rendering.stage import HOSTILE

SVG = "{http://www.w3.org/2000/svg}"


def boxes(plan: Plan) -> dict[str, RectMark]:
    """The boxes of the arena by the name of their tensor."""
    return {
        mark.words.split(":")[0]: mark for mark in marks(plan) if isinstance(mark, RectMark) and mark.outline
    }


def test_every_box_lies_on_the_picture() -> None:
    for mark in marks(sketch()):
        if isinstance(mark, RectMark):
            assert 0 <= mark.x <= mark.x + mark.width <= WIDTH
            assert 0 <= mark.y <= mark.y + mark.height <= HEIGHT


def test_boxes_are_where_the_bytes_are() -> None:
    drawn = boxes(sketch())
    assert set(drawn) == {"image", "wide", "narrow", "answer"}  # variables have an arena of their own
    image, wide, narrow = drawn["image"], drawn["wide"], drawn["narrow"]
    assert wide.height == pytest.approx(4 * image.height)
    assert wide.y + wide.height == pytest.approx(image.y)  # it starts where the image ends
    assert narrow.y + narrow.height == pytest.approx(wide.y)
    assert wide.x == pytest.approx(image.x + (image.width + 0.5) / 2)  # one operator later


def test_no_two_boxes_of_a_sound_plan_overlap() -> None:
    drawn = list(boxes(sketch()).values())
    for index, one in enumerate(drawn):
        for two in drawn[index + 1 :]:
            apart = (
                one.x + one.width <= two.x + 0.01
                or two.x + two.width <= one.x + 0.01
                or one.y + one.height <= two.y + 0.01
                or two.y + two.height <= one.y + 0.01
            )
            assert apart


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_names_leave_the_xml_sound(kind: str) -> None:
    places = tuple(replace(item, name=f"<b>&'\"{HOSTILE[kind]}") for item in PLACES)
    text = svg(marks(sketch(path=HOSTILE[kind], placements=places)))
    root = ElementTree.fromstring(text)
    assert {element.tag for element in root.iter()} <= {
        SVG + tag for tag in ("svg", "rect", "line", "text", "title")
    }
    assert len(text) < 100_000


def test_a_plan_without_an_arena_is_drawn_too() -> None:
    text = svg(marks(refused()))
    assert "places no tensors" in text
    ElementTree.fromstring(text)


def test_a_giant_plan_gives_a_picture_of_bearable_size() -> None:
    ops = tuple(OpLoad(index=i, type="ADD", name="", live_bytes=1 + i % 7) for i in range(10_000))
    places = tuple(place(i, i * 64, 64, i, i + 1) for i in range(10_000))
    text = svg(marks(sketch(ops=ops, placements=places)))
    assert "6,000 small tensors not drawn" in text
    assert len(text) < 3_000_000


def test_the_file_is_written(tmp_path: Path) -> None:
    plot(sketch(), str(tmp_path / "plan.svg"))
    ElementTree.parse(tmp_path / "plan.svg")


def test_other_kinds_of_file_are_refused_before_anything_is_done() -> None:
    with pytest.raises(ValueError, match=r"\.svg or \.png"):
        check_plot("plan.pdf")


def test_png_without_matplotlib_tells_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("outlive.rendering.picture.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"pip install 'outlive\[plot\]'"):
        check_plot("plan.png")


def test_png_is_written_where_matplotlib_is(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="to draw .png files: pip install 'outlive[plot]'")
    plot(sketch(path="$a$"), str(tmp_path / "plan.png"))
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")
    assert "matplotlib.pyplot" not in sys.modules  # no window system is touched
