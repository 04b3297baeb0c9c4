"""`outlive autopsy` answers each heading of the pages about error messages as the page does."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

import outlive

SECTION = re.compile(r"<h2[^>]*>(.*?)<a class=.headerlink.*?</h2>(.*?)(?=<h2|</article>)", re.DOTALL)
CODE = re.compile(r"reference/rules/([A-Z]\d{3})\.html")


def sections(page: Path) -> list[tuple[str, str]]:
    """The headings of a built page as a reader sees and copies them, each with the words below it."""
    found = SECTION.findall(page.read_text("utf-8"))
    return [(_words(heading), body) for heading, body in found]


def _words(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", markup)).strip()


def test_autopsy_answers_each_heading_with_the_code_on_the_page(site: Path) -> None:
    pages = [path for path in sorted((site / "errors").glob("*.html")) if path.name != "index.html"]
    told = [(heading, body) for page in pages for heading, body in sections(page)]
    assert len(told) >= 50
    for heading, body in told:
        answer = outlive.autopsy(heading)
        assert (CODE.findall(body) or [""])[0] == answer.code, heading
        assert answer.meaning.split(":")[0][:30].lower() in _words(body).lower(), heading
        assert "With outlive." in body, heading


def test_each_message_is_on_the_list(site: Path) -> None:
    listed = _words((site / "errors" / "index.html").read_text("utf-8"))
    for page in (site / "errors").glob("*.html"):
        for heading, _ in sections(page):
            assert heading in listed, heading


def test_a_wrong_code_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "errors").mkdir()
    page = '<h2 id="a">Segmentation fault (core dumped)<a class="headerlink" href="#a">x</a></h2>'
    page += '<p><a href="../reference/rules/D501.html">D501</a></p></article>'
    (tmp_path / "errors" / "running.html").write_text(page, "utf-8")
    (heading, body), *_ = sections(tmp_path / "errors" / "running.html")
    assert CODE.findall(body) == ["D501"]
    with pytest.raises(AssertionError):
        assert CODE.findall(body)[0] == outlive.autopsy(heading).code
