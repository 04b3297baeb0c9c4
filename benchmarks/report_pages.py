"""Reports of all corpus models, opened in a real Chromium: `python benchmarks/report_pages.py [--quick]`.

Each model of the corpus gets its report, run and all; the largest pages, and that of a model with many
operators, are opened, and the long table is scrolled. Needs OUTLIVE_CORPUS, Chromium and playwright.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from isolation_overhead import classifier
from side_by_side import Claim, finish

from outlive.cli.main import main as outlive

PACKAGES = ("outlive", "playwright")
CORPUS = Path(os.environ.get("OUTLIVE_CORPUS") or Path(__file__).resolve().parents[2] / "shared") / "models"
OPERATORS = 10_000
# Milliseconds between frames while a table is scrolled by some rows in each.
SCROLLING = """async () => {
  const table = document.querySelector("[data-table=ops] .window");
  table.scrollIntoView();
  const next = () => new Promise((go) => requestAnimationFrame(go));
  const spans = [];
  let before = await next();
  for (let frame = 0; frame < 200; frame++) {
    table.scrollTop += 300;
    const now = await next();
    spans.push(now - before);
    before = now;
  }
  return spans;
}"""


def build(models: list[Path], folder: Path) -> dict[str, Path]:
    """The report of each model by its name; what the command says is not shown."""
    pages = {}
    for model in models:
        page = folder / f"{model.stem}.html"
        words = ["report", str(model), "-o", str(page), "--repeat", "1", "--seconds", "20"]
        code = outlive(words)
        if code in (0, 1, 3) and page.is_file():
            pages[model.name] = page
    return pages


def open_seconds(browser: Any, page: Path, times: int) -> float:
    """The median time from asking for a page until it can be used, each in a fresh context."""
    spans = []
    for _ in range(times):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        view = context.new_page()
        start = time.perf_counter()
        view.goto(page.as_uri())
        view.wait_for_function("document.documentElement.dataset.ready === 'true'")
        spans.append(time.perf_counter() - start)
        context.close()
    return statistics.median(spans)


def scroll_milliseconds(browser: Any, page: Path) -> float:
    """The time between two frames that 95 of 100 keep while the table of operators is scrolled."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    view = context.new_page()
    view.goto(page.as_uri())
    view.wait_for_function("document.documentElement.dataset.ready === 'true'")
    spans = sorted(view.evaluate(SCROLLING))
    context.close()
    return float(spans[int(len(spans) * 0.95)])


def measure(folder: Path, quick: bool) -> tuple[list[Claim], dict[str, Any]]:
    """The claims, and the numbers behind them."""
    from playwright.sync_api import sync_playwright

    models = sorted(CORPUS.glob("*.tflite"))[: 5 if quick else None]
    pages = build(models, folder)
    long = folder / "long.tflite"
    long.write_bytes(classifier(OPERATORS, 8, 4))
    pages |= build([long], folder)
    sizes = {name: page.stat().st_size for name, page in pages.items()}
    corpus = [name for name in sizes if name != long.name]
    largest = sorted(corpus, key=lambda name: -sizes[name])[:3]
    with sync_playwright() as play:
        path = os.environ.get("OUTLIVE_CHROMIUM") or shutil.which("chromium")
        browser = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
        opened = {
            name: open_seconds(browser, pages[name], 2 if quick else 5) for name in (*largest, long.name)
        }
        frame = scroll_milliseconds(browser, pages[long.name])
        browser.close()
    claims = [
        Claim(text="corpus models without a report", ratio=len(models) - len(corpus), bound=0),
        Claim(text="MB of the largest report of the corpus", ratio=sizes[largest[0]] / 1e6, bound=10),
        Claim(
            text="s to open the slowest of the largest", ratio=max(opened[name] for name in largest), bound=2
        ),
        Claim(text=f"s to open the report of {OPERATORS} operators", ratio=opened[long.name], bound=2),
        Claim(text=f"ms between frames, scrolling {OPERATORS} operators, 95 of 100", ratio=frame, bound=50),
    ]
    told = {name: sizes[name] for name in (*largest, long.name)}
    return claims, {"bytes": told, "open_seconds": opened, "reports": len(corpus)}


def main() -> int:
    """Measure, print, write the results; 1 if a claim falls short."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a few models, no results written")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as name:
        claims, numbers = measure(Path(name), quick)
    return finish("report_pages", PACKAGES, claims, numbers, quick=quick)


if __name__ == "__main__":
    sys.exit(main())
