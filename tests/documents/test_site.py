"""The site builds without a warning, fetches nothing from elsewhere, and no link of it leads nowhere."""

from __future__ import annotations

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

import pytest

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


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build(ROOT / "mkdocs.yml", folder)
    return folder


def build(config: Path, folder: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "-f",
        str(config),
        "-d",
        str(folder),
    ]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


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
    index = (site / "search" / "search_index.js").read_text("utf-8")
    assert index.startswith("var __index = ")
    assert "how-to/plan_memory.html" in index
    assert "unpkg.com" not in (site / "index.html").read_text("utf-8")


def test_every_page_can_be_found(site: Path) -> None:
    front = Page(site / "index.html")
    reached = {urldefrag(link)[0] for link in front.links}
    pages = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    hidden = {
        page
        for page in pages - reached
        if not page.startswith(("reference/rules/", "reference/json/"))
        and page not in ("404.html", "index.html")
    }
    assert hidden == set(), "put them into mkdocs.yml and docs/index.md"


def test_a_link_to_nowhere_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="b.html">x</a><a href="#there">y</a><a href="https://example.org/">z</a>'
        '<script src="https://cdn.example.org/a.js"></script><h2 id="here"></h2><a href="#here">w</a>',
        "utf-8",
    )
    assert len(broken_links(tmp_path)) == 4


@pytest.mark.parametrize("text", ["[x](nowhere.md)", "[x](other.md#nowhere)"])
def test_a_warning_is_an_error(text: str, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text(f"# A\n\n{text}\n", "utf-8")
    (docs / "other.md").write_text("# B\n", "utf-8")
    settings = (ROOT / "mkdocs.yml").read_text("utf-8").partition("nav:\n  - index.md")[0]
    settings = settings.replace("  name: material\n", "  name: mkdocs\n").partition("theme:")[0]
    checks = (
        "validation:"
        + (ROOT / "mkdocs.yml").read_text("utf-8").partition("validation:")[2].partition("\nnav:")[0]
    )
    (tmp_path / "mkdocs.yml").write_text(f"{settings}\n{checks}\n", "utf-8")
    with pytest.raises(AssertionError):
        build(tmp_path / "mkdocs.yml", tmp_path / "site")
