"""Draws the pictures of README and docs from real runs, as SVG that needs no font and no server.

    python tools/draw_pictures.py     docs/pictures/crash.svg, arena.svg, drift.svg

A picture of a terminal is what the command printed, in colour, with the times and addresses of that run.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

import outlive
from outlive import demo_models
from outlive.rendering.finding_text import rich_finding
from outlive.rendering.picture import plot

if TYPE_CHECKING:
    from rich.console import RenderableType

PICTURES = Path(__file__).resolve().parent.parent / "docs" / "pictures"
_WIDTH = 118
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
    _terminal(parts, "a model that dies, and a program that does not", path)


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

    pictures = np.random.default_rng(0).uniform(-1, 1, (8, 64, 64, 3)).astype(np.float32)
    plot(outlive.compare("healthy.tflite", "healthy_int8.tflite", pictures), str(path))


def main() -> int:
    """Draw all of them, in a folder that has the demo models."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for model in demo_models.DEMO_MODELS:
            source = demo_models.path(model.name)
            Path(folder, source.name).write_bytes(source.read_bytes())
        os.chdir(folder)
        for name, draw_it in (("crash", draw_crash), ("arena", draw_arena), ("drift", draw_drift)):
            draw_it(PICTURES / f"{name}.svg")
            print(f"drew docs/pictures/{name}.svg")
        os.chdir(PICTURES)
    return 0


if __name__ == "__main__":
    sys.exit(main())
