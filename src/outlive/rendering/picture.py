"""Pictures: marks that plots/<kind>.py places, written as SVG, or as PNG where matplotlib is installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from outlive.atomic_files import whole_file, write_whole

WIDTH, HEIGHT = 1000, 680
INK, GREY, PALE, RED = "#222222", "#666666", "#d8d8d8", "#c8443c"
_FONT = "font-family='system-ui, Helvetica, Arial, sans-serif'"
_DOTS_PER_INCH = 100
# matplotlib's words for the ends of a text.
_ALIGN = {"start": "left", "middle": "center", "end": "right"}


@dataclass(frozen=True, slots=True)
class RectMark:
    """A filled rectangle; `words` appear when a pointer rests on it."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    words: str = ""
    outline: bool = False


@dataclass(frozen=True, slots=True)
class LineMark:
    """A thin line."""

    x1: float
    y1: float
    x2: float
    y2: float
    colour: str = PALE


@dataclass(frozen=True, slots=True)
class TextMark:
    """Words; `anchor` is the end of them that is at x: start, middle or end."""

    x: float
    y: float
    text: str
    size: int = 12
    anchor: str = "start"
    colour: str = INK


@dataclass(frozen=True, slots=True)
class CurveMark:
    """A line through points; with a `fill` the area that it encloses, pale."""

    points: tuple[tuple[float, float], ...]
    colour: str
    fill: str = "none"
    is_dashed: bool = False


@dataclass(frozen=True, slots=True)
class DotMark:
    """A filled circle; `words` appear when a pointer rests on it."""

    x: float
    y: float
    radius: float
    fill: str
    words: str = ""


Mark = RectMark | LineMark | TextMark | CurveMark | DotMark


def grid(left: float, right: float, top: float, tall: float, words: Sequence[str]) -> Iterator[Mark]:
    """Lines across from the bottom to the top, each with its words at the left; the lowest is the axis."""
    for number, text in enumerate(words):
        y = top + tall * (1 - number / (len(words) - 1))
        yield LineMark(left, y, right, y, PALE if number else INK)
        yield TextMark(left - 6, y + 4, text, 10, "end", GREY)


def check_plot(path: str) -> None:
    """ValueError if a picture cannot be written to a file of that name, before anything is planned."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".svg", ".png"):
        raise ValueError(f"--plot writes .svg or .png files, not {path!r}")
    if suffix == ".png" and find_spec("matplotlib") is None:
        raise ValueError(
            "a .png needs matplotlib: pip install 'outlive[plot]' (an .svg needs nothing: --plot plan.svg)"
        )


def plot(result: Any, path: str) -> None:
    """Write the picture of a result; ValueError for other names than .svg and .png, OSError if that fails."""
    write_picture(import_module(f"outlive.rendering.plots.{result.kind}").marks(result), path)


def write_picture(marks: Iterable[Mark], path: str) -> None:
    """Write a picture to an .svg or .png file; ValueError for other names, OSError if that fails."""
    check_plot(path)
    if path.lower().endswith(".svg"):
        write_whole(path, svg(tuple(marks)))
    else:
        _write_png(tuple(marks), path)


def svg(marks: Sequence[Mark]) -> str:
    """The picture as SVG text; names in it are escaped."""
    size = f"width='{WIDTH}' height='{HEIGHT}' viewBox='0 0 {WIDTH} {HEIGHT}'"
    head = f"<svg xmlns='http://www.w3.org/2000/svg' {size} {_FONT}>"
    ground = f"<rect width='{WIDTH}' height='{HEIGHT}' fill='#ffffff'/>"
    return "\n".join((head, ground, *svg_elements(marks), "</svg>", ""))


def svg_elements(marks: Iterable[Mark]) -> Iterator[str]:
    """Each mark as an SVG element; names in them are escaped."""
    for mark in marks:
        if isinstance(mark, RectMark):
            edge = " stroke='#ffffff' stroke-width='0.5'" if mark.outline else ""
            place = f"x='{mark.x:.1f}' y='{mark.y:.1f}' width='{mark.width:.1f}' height='{mark.height:.1f}'"
            yield f"<rect {place} fill='{mark.fill}'{edge}>{_title(mark.words)}</rect>"
        elif isinstance(mark, DotMark):
            place = f"cx='{mark.x:.1f}' cy='{mark.y:.1f}' r='{mark.radius}'"
            yield f"<circle {place} fill='{mark.fill}'>{_title(mark.words)}</circle>"
        elif isinstance(mark, CurveMark):
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in mark.points)
            dash = " stroke-dasharray='4 3'" if mark.is_dashed else ""
            area = f"fill='{mark.fill}'" + ("" if mark.fill == "none" else " fill-opacity='.18'")
            yield f"<polyline points='{points}' {area} stroke='{mark.colour}'{dash}/>"
        elif isinstance(mark, LineMark):
            ends = f"x1='{mark.x1:.1f}' y1='{mark.y1:.1f}' x2='{mark.x2:.1f}' y2='{mark.y2:.1f}'"
            yield f"<line {ends} stroke='{mark.colour}'/>"
        else:
            yield _text(mark)


def _title(words: str) -> str:
    return f"<title>{escape(words)}</title>" if words else ""


def _text(label: TextMark) -> str:
    place = f"x='{label.x:.1f}' y='{label.y:.1f}' font-size='{label.size}' text-anchor='{label.anchor}'"
    # A box's own words appear when the pointer rests on its label too.
    return f"<text {place} fill='{label.colour}' pointer-events='none'>{escape(label.text)}</text>"


def _write_png(marks: Sequence[Mark], path: str) -> None:
    """Draw with matplotlib."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH / _DOTS_PER_INCH, HEIGHT / _DOTS_PER_INCH), dpi=_DOTS_PER_INCH)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(HEIGHT, 0)  # as on a screen: down is more
    axes.axis("off")
    for depth, mark in enumerate(marks):
        _paint(axes, mark, depth)
    with whole_file(path) as file:
        figure.savefig(file, format="png", dpi=_DOTS_PER_INCH, facecolor="#ffffff")


def _paint(axes: Any, mark: Mark, depth: int) -> None:
    from matplotlib.patches import Rectangle

    if isinstance(mark, RectMark):
        edge = "#ffffff" if mark.outline else "none"
        box = Rectangle((mark.x, mark.y), mark.width, mark.height, facecolor=mark.fill, edgecolor=edge)
        box.set(linewidth=0.5, zorder=depth)
        axes.add_patch(box)
    elif isinstance(mark, DotMark):
        axes.plot(mark.x, mark.y, "o", color=mark.fill, markersize=2 * mark.radius, zorder=depth)
    elif isinstance(mark, CurveMark):
        across, up = zip(*mark.points, strict=True)
        if mark.fill != "none":
            axes.fill(across, up, color=mark.fill, alpha=0.18, linewidth=0, zorder=depth)
        axes.plot(across, up, "--" if mark.is_dashed else "-", color=mark.colour, linewidth=0.8, zorder=depth)
    elif isinstance(mark, LineMark):
        axes.plot((mark.x1, mark.x2), (mark.y1, mark.y2), color=mark.colour, linewidth=0.8, zorder=depth)
    else:
        # A name may hold dollars, which matplotlib would take for mathematics.
        text = mark.text.replace("$", r"\$")
        points = mark.size * 72 / _DOTS_PER_INCH
        where = {"ha": _ALIGN[mark.anchor], "va": "baseline", "zorder": depth}
        axes.text(mark.x, mark.y, text, fontsize=points, color=mark.colour, **where)
