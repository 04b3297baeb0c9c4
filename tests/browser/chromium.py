"""A real Chromium, and a page in it that is watched: what its console says, and whom it asks for what."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

# Debian's name first; OUTLIVE_CHROMIUM names another one.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Charts that can be seen and have not been drawn.
UNDRAWN = (
    "[...document.querySelectorAll('[data-chart]')].filter((one) => one.offsetParent && !one.dataset.drawn)"
)
# What of tables and charts is beyond the edge of the page, or of its own cell.
CUT = """[...document.querySelectorAll("table, .window .row, canvas")].filter((one) => {
  const right = document.body.getBoundingClientRect().right, box = one.getBoundingClientRect();
  const cells = [...one.querySelectorAll(".cell, th, td")];
  return box.width && (box.right > right + 1 || cells.some((cell) => {
    const { scrollWidth, scrollHeight, clientWidth, clientHeight } = cell;
    return cell.getBoundingClientRect().right > right + 1
      || scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 1;
  }));
}).map((one) => one.textContent.slice(0, 80))"""
PATIENCE_S = 180  # a busy machine is slow, not wrong
LAPTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


def find_chromium() -> str:
    """The browser's path; the test is skipped, in words, where there is none."""
    named = os.environ.get("OUTLIVE_CHROMIUM")
    found = named or next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("needs a Chromium: apt install chromium, or set OUTLIVE_CHROMIUM to its path")
    return found


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser without a window."""
    pytest.importorskip("playwright", reason="needs playwright: pip install playwright")
    from playwright.sync_api import sync_playwright

    path = find_chromium()
    with sync_playwright() as play:
        # In a container the browser cannot make a sandbox of its own.
        browser = play.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Visit:
    """A page that was opened, with all it has said and asked for so far."""

    page: Any
    path: Path
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def strangers(self) -> list[str]:
        """Requests for anything but the file itself and what it carries."""
        own = self.path.as_uri()
        return [
            url for url in self.asked if url.split("#")[0] != own and not url.startswith(("data:", "blob:"))
        ]

    def show_all(self) -> None:
        """Scroll through the page, so that every chart is drawn."""
        self.page.evaluate("""async () => {
          for (let y = 0; y <= document.body.scrollHeight; y += 400) {
            scrollTo({ top: y, behavior: "instant" });
            await new Promise((go) => requestAnimationFrame(go));
          }
          scrollTo({ top: 0, behavior: "instant" });
        }""")
        self.wait_until(f"{UNDRAWN}.length === 0")

    def wait_until(self, expression: str) -> None:
        """Ask the page until it says yes. Playwright's way asks from inside it, which the policy forbids."""
        end = time.monotonic() + PATIENCE_S
        while not self.page.evaluate(expression):
            assert time.monotonic() < end, expression
            time.sleep(0.02)


@contextmanager
def visit(browser: Any, path: Path, *, size: Any = None, scheme: str = "light") -> Iterator[Visit]:
    """Open a file as a user would, and watch it."""
    context = browser.new_context(viewport=size or LAPTOP, color_scheme=scheme, accept_downloads=True)
    context.set_default_timeout(1000 * PATIENCE_S)
    page = context.new_page()
    seen = Visit(page=page, path=path)
    page.on("console", lambda message: seen.said.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: seen.said.append(f"error: {error}"))
    # Of the protocol itself: it reports requests that a policy stops, too.
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.requestWillBeSent", lambda event: seen.asked.append(event["request"]["url"]))
    try:
        page.goto(path.as_uri())
        seen.wait_until("document.documentElement.dataset.ready === 'true'")
        yield seen
    finally:
        context.close()
