"""The site builds without a warning, fetches nothing from elsewhere, and no link of it leads nowhere."""

from __future__ import annotations

import posixpath
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

import pytest

from tests.documents.site_build import build_site

ROOT = Path(__file__).resolve().parents[2]
# Hosts that pages may send a reader to; a new one is put here by somebody who has looked at it.
KNOWN_HOSTS = frozenset({"github.com", "pre-commit.com", "ui.perfetto.dev"})
RESOURCES = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """The links, the resources and the anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.resources: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        for name in ("id", "name"):
            if given.get(name):
                self.anchors.add(str(given[name]))
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        wanted = RESOURCES.get(tag)
        if wanted and given.get(wanted) and given.get("rel") not in ("canonical", "next", "prev"):
            self.resources.append(str(given[wanted]))


def broken_links(site: Path) -> list[str]:
    """Links and resources of a site that lead nowhere, or somewhere nobody has looked at."""
    # 404.html is what a server shows in any folder: its links start at the server's root.
    pages = {path: Page(path) for path in site.rglob("*.html") if path.name != "404.html"}
    problems = []
    for path, page in pages.items():
        for link in page.links:
            problem = _bad_link(path, link, pages)
            problems += [f"{path.relative_to(site)}: {link}: {problem}"] if problem else []
        for link in page.resources:
            if urlparse(link).scheme or link.startswith("//"):
                problems.append(f"{path.relative_to(site)}: {link}: fetched from elsewhere")
            elif not (path.parent / unquote(urldefrag(link)[0])).exists():
                problems.append(f"{path.relative_to(site)}: {link}: no such file")
    return problems


def _bad_link(path: Path, link: str, pages: dict[Path, Page]) -> str:
    parts = urlparse(link)
    if parts.scheme in ("http", "https"):
        return "" if parts.hostname in KNOWN_HOSTS else "a host that nobody has looked at"
    if parts.scheme:
        return "" if parts.scheme in ("mailto", "data") else "a strange scheme"
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return "no such page"
    if parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
        return "no such place on that page"
    return ""


def test_every_link_leads_somewhere(site: Path) -> None:
    assert broken_links(site) == []


def test_search_is_on_board(site: Path) -> None:
    assert "how-to/plan_memory.html" in (site / "search.js").read_text("utf-8")


def test_every_page_can_be_found(site: Path) -> None:
    front = Page(site / "index.html")
    reached = {posixpath.normpath(urldefrag(link)[0]) for link in front.links}
    pages = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    hidden = {
        page
        for page in pages - reached
        if not page.startswith(("reference/rules/", "reference/json/"))
        and page not in ("404.html", "index.html")
    }
    assert hidden == set(), "put them into zensical.toml"


def test_code_shows_no_stray_backslash(site: Path) -> None:
    assert stray_backslashes(site) == []


def test_a_stray_backslash_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p><code>a\\|b</code> <code>a|b</code> <code>\\u202e</code>", "utf-8")
    assert len(stray_backslashes(tmp_path)) == 1


def stray_backslashes(site: Path) -> list[str]:
    """Code spans that show a backslash which escapes something in the source, such as `\\|`."""
    spans = (
        (path, span)
        for path in sorted(site.rglob("*.html"))
        for span in re.findall(r"<code>(.*?)</code>", path.read_text("utf-8"), re.DOTALL)
    )
    return [f"{path.name}: {span}" for path, span in spans if re.search(r"\\[|*_`<>&\[\]]", span)]


def test_a_link_to_nowhere_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="b.html">x</a><a href="#there">y</a><a href="https://example.org/">z</a>'
        '<script src="https://cdn.example.org/a.js"></script><h2 id="here"></h2><a href="#here">w</a>',
        "utf-8",
    )
    assert len(broken_links(tmp_path)) == 4


@pytest.mark.parametrize("text", ["[x](nowhere.md)", "[x](other.md#nowhere)"])
def test_a_warning_is_an_error(text: str, tmp_path: Path) -> None:
    docs = tmp_path / "pages"
    docs.mkdir()
    (docs / "index.md").write_text(f"# A\n\n{text}\n", "utf-8")
    (docs / "other.md").write_text("# B\n", "utf-8")
    settings = re.sub(
        r"^nav = \[.*?^\]\n", "", (ROOT / "zensical.toml").read_text("utf-8"), flags=re.M | re.S
    )
    with pytest.raises(AssertionError, match="does not exist"):
        build_site(tmp_path, docs, settings)
