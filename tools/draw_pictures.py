"""Draws the pictures of README and docs from real runs.

    python tools/draw_pictures.py     docs/pictures: crash.svg, arena.svg, drift.svg, fit.svg, report.png ...

A picture of a terminal is what the command printed, in colour, with the times and addresses of that run. The
report and the card are what Chromium shows of the real page; without Chromium they stay as they are.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

import outlive
from outlive import demo_models
from outlive.rendering.finding_text import rich_finding
from outlive.rendering.media.notebook import card_bundle
from outlive.rendering.pages.error import error_page
from outlive.rendering.picture import plot

if TYPE_CHECKING:
    from rich.console import RenderableType

PICTURES = Path(__file__).resolve().parent.parent / "docs" / "pictures"
_WIDTH = 92
# rich's own frame fetches a font from another server; this one takes what the reader has.
_FRAME = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>{unique_id}</title>
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: system-ui, sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def draw_crash(path: Path) -> None:
    """A model that dies in a session of Python, and the session that goes on."""
    parts: list[RenderableType] = [
        _prompt("$", "python"),
        _prompt(">>>", "from outlive import Interpreter, ModelDied"),
        _prompt(">>>", 'model = Interpreter("deadly.tflite")'),
        _prompt(">>>", "model.allocate_tensors()"),
        _prompt(">>>", "try: model.invoke()  # a segmentation fault"),
        _prompt("...", "except ModelDied as death: print(death)"),
        rich_finding(_death().finding),
        _prompt(">>>", '"still here"'),
        Text("'still here'"),
    ]
    _terminal(parts, "A model crashes, the program goes on", path)


def _death() -> outlive.ModelDied:
    with outlive.Interpreter("deadly.tflite") as model:
        model.allocate_tensors()
        try:
            model.invoke()
        except outlive.ModelDied as death:
            return death
    raise RuntimeError("the deadly model lived")


def _prompt(sign: str, command: str) -> Text:
    return Text.assemble((f"{sign} ", "bold green"), (command, "bold"))


def _terminal(parts: Iterable[RenderableType], title: str, path: Path) -> None:
    console = Console(
        record=True, width=_WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor",
        markup=False, emoji=False, highlight=False,
    )  # fmt: skip
    for part in parts:
        console.print(part)
    svg = console.export_svg(title=title, code_format=_FRAME, unique_id=path.stem)
    path.write_text(svg, "utf-8")


def draw_arena(path: Path) -> None:
    """Where each tensor of the healthy model will lie."""
    plot(outlive.plan("healthy.tflite", accelerator="builtin"), str(path))


def draw_drift(path: Path) -> None:
    """In which layers of the int8 twin error is born."""
    import numpy as np

    images = np.random.default_rng(0).uniform(-1, 1, (8, 64, 64, 3)).astype(np.float32)
    plot(outlive.compare("healthy.tflite", "healthy_int8.tflite", images), str(path))


def draw_fit(path: Path) -> None:
    """Memory against loss of all that was tried to make a model fit."""
    plot(outlive.fit("healthy.tflite", ram="500KB"), str(path))


def draw_scan(path: Path) -> None:
    """The page of a scan of the demo models."""
    _outlive("scan", ".", "--run", "-o", "scan.html")
    _photograph(Path("scan.html"), path, height=760)


def _outlive(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "outlive", *words], check=False, stdout=subprocess.DEVNULL)


def draw_report(path: Path) -> None:
    """The top of the report about a model that crashes."""
    _outlive("report", "deadly.tflite", "-o", "report.html")
    _photograph(Path("report.html"), path, height=1000)


def draw_card(path: Path) -> None:
    """What a notebook shows when a model dies in a cell."""
    card = card_bundle(error_page(_death()))["text/html"]
    page = Path("card.html")
    page.write_text(
        "<!doctype html><meta charset=utf-8><body style='margin:16px;font:14px system-ui,sans-serif'>"
        "<pre style='background:#f7f7f7;border:1px solid #ddd;padding:8px'>[3]: interpreter.invoke()</pre>"
        f"{card}<script>document.documentElement.dataset.ready = 'true'</script>",
        "utf-8",
    )
    _photograph(page, path)


_MEMORY = "import numpy as np\nbatches = [np.ones((1000, 1000)) for _ in range(1_000)]"


def draw_kernel_card(path: Path) -> None:
    """What JupyterLab shows below a cell whose kernel was killed for memory; root can make such a limit."""
    sys.path.insert(0, str(PICTURES.parents[1]))
    from outlive.meter import make_cgroup
    from tests.browser.chromium import chromium
    from tests.jupyter.jupyter_server import serving
    from tests.jupyter.lab_page import notebook

    cgroup = make_cgroup(2 << 30)
    if cgroup is None:
        return
    sources = ["import os; print(os.getpid())", _MEMORY]
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder)) as server,
        chromium() as browser,
        cgroup,
        notebook(server, browser, sources, name="classify.ipynb") as lab,
    ):
        lab.run(0)
        lab.wait_for_prompt(0, "[1]")
        cgroup.add(int(lab.cell(0).locator(".jp-OutputArea-output").inner_text()))
        lab.page.locator(".outlive-memory", has_text="of 2.00 GiB").wait_for()
        lab.run(1)
        lab.card().locator("summary").first.wait_for()
        lab.dialog()
        lab.accept_dialog()
        lab.card().locator("summary").first.click()
        lab.page.locator(".jp-toast-button", has_text="No").click()  # no news
        lab.page.locator(".Toastify__toast").wait_for(state="detached")
        lab.cell(1).screenshot(path=str(path))
    _shrink(path)


def _photograph(page: Path, path: Path, height: int = 0) -> None:
    """What Chromium shows of a page."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        options = {
            "executable_path": shutil.which("chromium"),
            "args": ["--no-sandbox", "--disable-dev-shm-usage"],
        }
        browser = play.chromium.launch(**options)  # type: ignore[arg-type]
        size: Any = {"width": 900, "height": height or 300}
        shown = browser.new_page(viewport=size, color_scheme="light")
        shown.goto(page.resolve().as_uri())
        shown.wait_for_timeout(1000)
        shown.screenshot(path=str(path), full_page=not height)
        browser.close()
    _shrink(path)


def _shrink(path: Path) -> None:
    """Few colours, so that the file is small."""
    from PIL import Image

    with Image.open(path) as photo:
        photo.convert("RGB").quantize(96).save(path, optimize=True)


_PICTURES = {
    "crash.svg": draw_crash,
    "arena.svg": draw_arena,
    "drift.svg": draw_drift,
    "fit.svg": draw_fit,
    "report.png": draw_report,
    "card.png": draw_card,
    "scan.png": draw_scan,
    "kernel_card.png": draw_kernel_card,
}


def main() -> int:
    """Draw all of them, in a folder that has the demo models."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for model in demo_models.DEMO_MODELS:
            source = demo_models.path(model.name)
            Path(folder, source.name).write_bytes(source.read_bytes())
        os.chdir(folder)
        os.environ["OUTLIVE_CACHE"] = str(Path(folder, "cache"))  # what an earlier run knows is not drawn
        for name, draw_it in _PICTURES.items():
            if name.endswith(".svg") or shutil.which("chromium"):
                draw_it(PICTURES / name)
                print(f"drew docs/pictures/{name}")
        os.chdir(PICTURES)
    return 0


if __name__ == "__main__":
    sys.exit(main())
