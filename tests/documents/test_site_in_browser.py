"""The site in a real Chromium, opened from disk: quiet, alone, searchable, dark, on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.browser.chromium import LAPTOP, PATIENCE_S, PHONE, chromium

PAGES = (
    "index.html",
    "getting_started.html",
    "how-to/why_did_it_crash.html",
    "coming-from/tf_lite.html",
    "errors/index.html",
    "explanation/arena.html",
    "reference/cli.html",
    "reference/rules/D504.html",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@contextmanager
def opened(browser: Any, path: Path, size: dict[str, int], scheme: str = "light") -> Iterator[Any]:
    """A page of the site; at the end, nothing was said on its console and nothing asked of another place."""
    context = browser.new_context(viewport=size, color_scheme=scheme)
    context.set_default_timeout(1000 * PATIENCE_S)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: said.append(f"error: {error}"))
    page.on("request", lambda request: said.append(request.url) if _is_elsewhere(request.url) else None)
    page.on("requestfailed", lambda request: said.append(f"missing: {request.url}"))
    try:
        page.goto(path.as_uri())
        yield page
        assert said == []
    finally:
        context.close()


def _is_elsewhere(url: str) -> bool:
    return not url.startswith(("file:", "data:", "blob:", "about:"))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_quiet_and_fits(name: str, site: Path, browser: Any) -> None:
    for size in (LAPTOP, PHONE):
        with opened(browser, site / name, size) as page:
            page.wait_for_selector("h1")
            width, room = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert width <= room, f"{name} is {width} px wide in a window of {room}"
            images = "[...document.images].filter((one) => one.complete && !one.naturalWidth).length"
            assert page.evaluate(images) == 0


def test_no_page_is_wider_than_a_phone(site: Path, browser: Any) -> None:
    made = ("reference/rules/", "reference/json/")
    names = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html"))]
    wide = {}
    page = browser.new_page(viewport=PHONE)
    for name in names:
        if not name.startswith(made) and name != "404.html":
            page.goto((site / name).as_uri(), wait_until="domcontentloaded")
            width = page.evaluate("document.documentElement.scrollWidth")
            wide |= {name: width} if width > PHONE["width"] else {}
    page.close()
    assert len(names) > 60
    assert wide == {}


def test_the_search_finds_a_message(site: Path, browser: Any) -> None:
    with opened(browser, site / "index.html", LAPTOP) as page:
        page.click(".md-search__button")
        page.keyboard.type("failed to prepare")
        page.get_by_text("results").first.wait_for()
        assert page.locator("a[href*='errors/']").first.is_visible()


def test_the_colours_can_be_changed(site: Path, browser: Any) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    with opened(browser, site / "index.html", LAPTOP) as page:
        light = page.evaluate(colour)
        page.locator("label[title='Switch to dark']").click()
        page.wait_for_function("document.body.dataset.mdColorScheme === 'slate'")
        assert page.evaluate(colour) != light
    with opened(browser, site / "index.html", LAPTOP, "dark") as page:
        page.wait_for_function("document.body.dataset.mdColorScheme === 'slate'")
        assert page.evaluate(colour) != light


def test_copying_takes_the_commands_only(site: Path, browser: Any) -> None:
    with opened(browser, site / "getting_started.html", LAPTOP) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        block = page.locator(".language-console").first
        block.hover()
        block.locator(".md-code__button").click()
        copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.strip().splitlines()[0].startswith("outlive ")
    assert "$" not in copied


def test_a_request_to_another_place_is_noticed(tmp_path: Path, browser: Any) -> None:
    path = tmp_path / "a.html"
    path.write_text('<img src="http://localhost:9/a.png">', "utf-8")
    with pytest.raises(AssertionError, match="localhost"), opened(browser, path, LAPTOP) as page:
        page.wait_for_load_state()
