"""A page as text: what is embedded is inert, what is written is escaped, the policy names what it carries."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from html.parser import HTMLParser
from importlib.resources import files
from typing import Any

import pytest

from outlive.finding import Evidence, Fault, Finding, Remedy, Severity, Tag
from outlive.rendering.media.html import MOST_PLAIN_ROWS, embed, render_html
from outlive.rendering.page import (
    Chart,
    Choice,
    Column,
    Command,
    Findings,
    Listing,
    Page,
    PageVerdict,
    Pre,
    Section,
    Table,
    Tile,
    Words,
    bar_share,
    cell_text,
    sort_key,
)

BAD = "</script><b onclick=x>&\u2028\u202e\x1b"


class _Elements(HTMLParser):
    """Every element of a page with its attributes, and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self._inside, []).append(data)


def _finding(words: str) -> Finding:
    return Finding(
        code="F101", name="x", severity=Severity.ERROR, headline=words, where=words, why=words,
        evidence=(Evidence(fact=words, source=words),),
        remedies=(Remedy(action=words, tag=Tag.SAME_RESULTS, effect=words, command=words),),
        confidence=words, fault=Fault.FILE,
    )  # fmt: skip


def _document(words: str) -> dict[str, Any]:
    return {"schema": "outlive/1", words: [words]}


def _page(words: str, rows: int = 3) -> Page:
    columns = (Column(title=words), Column(title="size", kind="bar"), Column(title="it", kind="chip"))
    table = Table(id="t", caption=words, columns=columns, rows=[(words, at, words) for at in range(rows)])
    chart = Chart(
        id="c", title=words, summary=words, data={"kind": "lines", "labels": [words]},
        table=Table(id="u", caption=words, columns=columns, rows=[(words, 1, words)], is_folded=True),
    )  # fmt: skip
    blocks = (
        Words(text=words), Listing(items=(words,), title=words), Pre(title=words, text=words + "\n" + words),
        Command(command=words, words=words), Findings(findings=(_finding(words),)), table, chart,
        Choice(label=words, charts=(Chart(id="d", title=words, summary=words, data={}),)),
    )  # fmt: skip
    return Page(
        title=words, kind="plan", verdict=PageVerdict(tone="bad", word=words, sentence=words), subtitle=words,
        tiles=(Tile(label=words, value=words, note=words),),
        sections=tuple(Section(id=id, title=words, lead=words, blocks=blocks) for id in ("s", "z")),
    )  # fmt: skip


def test_no_text_becomes_markup() -> None:
    plain, hostile = (_Elements(render_html(_page(words), _document(words))) for words in ("words", BAD))
    # A command that had to be escaped is shown, and cannot be copied.
    expected = [tag for tag, attributes in plain.found if "data-copy" not in attributes]
    assert [tag for tag, _ in hostile.found] == expected
    assert not any(name.startswith("on") for _, attributes in hostile.found for name in attributes)


def test_no_text_hides_or_turns_what_is_shown() -> None:
    text = render_html(_page(BAD), _document(BAD))
    assert "\u202e" not in text
    assert "\u2028" not in text
    assert "\x1b" not in text


def test_no_style_is_written_into_elements() -> None:
    """The policy would refuse it, and the console say so."""
    assert not any(
        "style" in attributes for _, attributes in _Elements(render_html(_page("words"), {})).found
    )


def test_what_is_embedded_comes_back_and_cannot_end_its_element() -> None:
    value = {
        "name": BAD,
        "many": [1, None, True, 2.5],
        "odd": [math.nan, math.inf, -math.inf],
        "view": memoryview(b"ab"),
    }
    text = embed(value)
    assert "<" not in text
    assert ">" not in text
    assert text.isascii()
    assert json.loads(text) == {**value, "odd": ["NaN", "Infinity", "-Infinity"], "view": {"bytes": 2}}


def test_a_name_without_end_is_cut() -> None:
    found = json.loads(embed(["x" * 1_000_000, "a\n" * 1_000_000]))
    assert len(found[0]) <= 2_000
    assert len(found[1]) <= 20_000


def test_half_a_character_is_no_trouble() -> None:
    assert json.loads(embed("\ud800")) == "\\ud800"
    render_html(_page("\ud800"), _document("\ud800")).encode("utf-8")


def test_the_policy_allows_what_the_page_carries_and_nothing_else() -> None:
    found = _Elements(render_html(_page("words"), {}))
    policy = next(a["content"] for tag, a in found.found if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    rules = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in policy
    for name, element in (("script-src", "script"), ("style-src", "style")):
        digests = {_digest(text) for text in found.texts[element]}
        assert rules[name].strip("'") in digests
        assert rules[name].count("sha256-") == 1


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_scripts_know_no_way_to_write_markup_or_run_text() -> None:
    here = files("outlive.rendering").joinpath("web/assets")
    for asset in here.iterdir():
        text = asset.read_text("utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text
        )
        assert "</script" not in text
        assert "http" not in text.replace("http://www.w3.org", "")


def test_the_charting_library_is_the_pinned_one() -> None:
    folder = files("outlive.rendering").joinpath("web/vendor/uplot")
    assert json.loads(folder.joinpath("package.json").read_text("utf-8"))["version"] == "1.6.32"
    assert "MIT License" in folder.joinpath("LICENSE").read_text("utf-8")
    content = folder.joinpath("uPlot.iife.min.js").read_bytes()
    assert hashlib.sha256(content).hexdigest() == UPLOT_SHA256


UPLOT_SHA256 = "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f"


@pytest.mark.parametrize(("rows", "drawn"), [(MOST_PLAIN_ROWS, False), (MOST_PLAIN_ROWS + 1, True)])
def test_long_tables_are_drawn_by_the_script(rows: int, drawn: bool) -> None:
    text = render_html(_page("words", rows), {})
    carried = json.loads(text.split('id="outlive-drawn">')[1].split("</script>")[0])
    assert ("t" in carried["tables"]) is drawn
    assert ('data-table="t"' in text) is drawn


@pytest.mark.parametrize(
    ("kind", "value", "shown", "key"),
    [
        ("bytes", 2048, "2.00 KiB", "2048.0"),
        ("number", 12345, "12,345", "12345.0"),
        ("number", 0.000123456, "0.0001235", "0.000123456"),
        ("share", 0.5, "50.0%", "0.5"),
        ("number", math.nan, "not a number", ""),
        ("number", math.inf, "infinite", "Infinity"),
        ("number", -math.inf, "minus infinite", "-Infinity"),
        ("text", None, "", ""),
        ("text", "Ab\n", "Ab\\n", "ab\\n"),
        ("text", True, "yes", "yes"),
    ],
)
def test_cells(kind: Any, value: Any, shown: str, key: str) -> None:
    column = Column(title="x", kind=kind)
    assert cell_text(column, value) == shown
    assert sort_key(column, value) == key


def test_bars_are_as_long_as_their_share_of_the_longest() -> None:
    table = Table(id="t", caption="", columns=(Column(title="x", kind="bar"),), rows=[(10,), (40,), (None,)])
    assert [bar_share(table, 0, row[0]) for row in table.rows] == [0.25, 1, 0]
