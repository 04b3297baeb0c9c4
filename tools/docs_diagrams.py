"""Draws the diagrams of the concept pages: docs/pictures/concept_*.svg, part of what build_docs.py writes.

Filled boxes have white words; lines and words outside are a grey that can be read on white and on black: one
file serves light and dark pages, and sites that show Markdown as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

PICTURES = Path(__file__).resolve().parent.parent / "docs" / "pictures"
TEAL, BLUE, RED, GREY, SAND = "#0f766e", "#2f5f9e", "#b3382f", "#5b6672", "#8a5a12"
LINE = "#7d8996"
_FONT = "system-ui, Helvetica, Arial, sans-serif"
_LINE_HEIGHT = 17


@dataclass
class Diagram:
    """A drawing of a given size, made of boxes, arrows and words."""

    title: str
    width: int
    height: int
    parts: list[str] = field(default_factory=list)

    def box(self, x: int, y: int, width: int, height: int, words: str, fill: str = TEAL) -> None:
        """A filled box with words in its middle, one line for each line of the text."""
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{fill}" '
            f'stroke="{LINE}" stroke-opacity="0.6"/>'
        )
        lines = words.split("\n")
        top = y + height / 2 - (len(lines) - 1) * _LINE_HEIGHT / 2 + 5
        for place, line in enumerate(lines):
            weight = ' font-weight="600"' if place == 0 else ""
            self._text(x + width / 2, top + place * _LINE_HEIGHT, line, "#ffffff", "middle", weight)

    def frame(self, x: int, y: int, width: int, height: int, words: str) -> None:
        """A dashed outline around several boxes, with words at its top left."""
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" fill="none" '
            f'stroke="{LINE}" stroke-width="1.5" stroke-dasharray="6 4"/>'
        )
        self.words(x + 12, y + 20, words, bold=True)

    def words(self, x: float, y: float, words: str, anchor: str = "start", *, bold: bool = False) -> None:
        """Words outside of boxes."""
        for place, line in enumerate(words.split("\n")):
            weight = ' font-weight="600"' if bold else ""
            self._text(x, y + place * _LINE_HEIGHT, line, LINE, anchor, weight)

    def arrow(self, x1: int, y1: int, x2: int, y2: int, *, both: bool = False, colour: str = LINE) -> None:
        """An arrow from one place to another."""
        start = ' marker-start="url(#tip)"' if both else ""
        self.parts.append(
            f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}" stroke-width="2"'
            f'{start} marker-end="url(#tip)"/>'
        )

    def line(self, x1: int, y1: int, x2: int, y2: int, colour: str = LINE) -> None:
        """A thin line."""
        self.parts.append(
            f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}" stroke-width="1.5"/>'
        )

    def _text(self, x: float, y: float, words: str, fill: str, anchor: str, more: str) -> None:
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="14" fill="{fill}" text-anchor="{anchor}"{more}>'
            f"{escape(words)}</text>"
        )

    def svg(self) -> str:
        """The file."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" role="img" font-family="{_FONT}">\n'
            f"<title>{escape(self.title)}</title>\n"
            '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
            f'orient="auto-start-reverse"><path d="M0 0 L10 5 L0 10 z" fill="{LINE}"/></marker></defs>\n'
        )
        return head + "\n".join(self.parts) + "\n</svg>\n"


def process_model() -> Diagram:
    """Your program, the nursery, its workers, and the memory that they share."""
    drawn = Diagram("Your program, the nursery and its workers", 860, 390)
    drawn.frame(10, 10, 250, 300, "Your program")
    drawn.box(30, 50, 210, 70, "outlive.Interpreter\nset_tensor, invoke, ...")
    drawn.box(30, 220, 210, 70, "ModelDied\ncause, operator, fix", RED)
    drawn.frame(590, 10, 260, 370, "Child processes")
    drawn.box(610, 50, 220, 70, "Worker\nLiteRT and one model", BLUE)
    drawn.box(610, 155, 220, 40, "Spare worker", GREY)
    drawn.box(610, 290, 220, 70, "Nursery\nhas LiteRT loaded", TEAL)
    drawn.box(320, 50, 210, 70, "Shared memory\ninputs, outputs, stage", SAND)
    drawn.arrow(240, 85, 318, 85, both=True)
    drawn.arrow(532, 85, 608, 85, both=True)
    drawn.words(425, 145, "no system call in the hot path", "middle")
    drawn.arrow(720, 288, 720, 198)
    drawn.words(732, 248, "forks, traces")
    drawn.arrow(608, 325, 243, 258)
    drawn.words(425, 252, "signal, native stack,", "middle")
    drawn.words(425, 330, "last stage, memory over time", "middle")
    drawn.words(135, 345, "never loads LiteRT", "middle")
    return drawn


def arena() -> Diagram:
    """Tensors of five operators in one block: offsets upwards, operators to the right."""
    drawn = Diagram("An arena: tensors share bytes when they are not alive at the same time", 860, 360)
    left, step, bottom = 90, 140, 290
    for place, name in enumerate(("CONV", "DEPTHWISE", "CONV", "ADD", "SOFTMAX")):
        drawn.words(left + place * step + step / 2, bottom + 26, name, "middle")
        drawn.line(left + place * step, 30, left + place * step, bottom)
    drawn.line(left, bottom, left + 5 * step, bottom)
    drawn.line(left + 5 * step, 30, left + 5 * step, bottom)
    drawn.box(left, bottom - 70, 4 * step, 68, "A: alive until ADD reads it", BLUE)
    drawn.box(left + step // 2, bottom - 170, 2 * step - step // 2, 98, "B: output of CONV", TEAL)
    drawn.box(left + step, bottom - 255, step * 2, 83, "C: output of DEPTHWISE", SAND)
    drawn.box(left + 2 * step + 4, bottom - 170, 2 * step - 8, 98, "D: takes over the bytes of B", TEAL)
    drawn.box(left + 3 * step + 4, bottom - 255, 2 * step - 8, 50, "E", GREY)
    drawn.words(left - 12, 40, "offset", "end")
    drawn.words(left - 12, bottom, "0", "end")
    drawn.words(left, bottom + 54, "Time goes to the right. The arena is as high as its highest box.")
    return drawn


def xnnpack() -> Diagram:
    """The same weights twice, and a workspace beside the arena."""
    drawn = Diagram("What a model needs with builtin kernels and with XNNPACK", 860, 330)
    drawn.words(20, 45, "builtin kernels", bold=True)
    drawn.box(190, 20, 180, 44, "file: weights", GREY)
    drawn.box(380, 20, 300, 44, "arena: all activations", TEAL)
    drawn.words(20, 145, "XNNPACK", bold=True)
    drawn.box(190, 120, 180, 44, "file: weights", GREY)
    drawn.box(380, 120, 180, 44, "packed weights", RED)
    drawn.box(570, 120, 180, 44, "workspace", BLUE)
    drawn.box(760, 120, 80, 44, "arena", TEAL)
    drawn.arrow(372, 142, 378, 142)
    drawn.words(470, 190, "a second copy, in the order", "middle")
    drawn.words(470, 207, "that its kernels read", "middle")
    drawn.words(660, 190, "activations inside", "middle")
    drawn.words(660, 207, "delegated operators", "middle")
    drawn.words(800, 190, "the rest", "middle")
    drawn.words(20, 250, "allocate_tensors()", bold=True)
    drawn.words(
        190,
        250,
        "builtin: reserves the arena, touches little of it.  XNNPACK: takes nearly all of its memory.",
    )
    drawn.words(20, 285, "invoke()", bold=True)
    drawn.words(190, 285, "builtin: pages of the arena become real.  XNNPACK: the arena's pages only.")
    return drawn


def delegates() -> Diagram:
    """A graph that a delegate takes in two partitions, with an operator that it refuses in between."""
    drawn = Diagram("A delegate takes two partitions; one operator stays on the CPU", 860, 240)
    names = (
        ("CONV", BLUE),
        ("ADD", BLUE),
        ("CONV", BLUE),
        ("GATHER_ND", GREY),
        ("CONV", BLUE),
        ("SOFTMAX", BLUE),
    )
    for place, (name, fill) in enumerate(names):
        x = 20 + place * 140
        drawn.box(x, 70, 110, 48, name, fill)
        if place:
            drawn.arrow(x - 30, 94, x - 2, 94)
    drawn.frame(8, 35, 414, 100, "partition 1: delegate")
    drawn.frame(568, 35, 284, 100, "partition 2: delegate")
    drawn.words(495, 55, "CPU", "middle", bold=True)
    drawn.arrow(430, 165, 430, 140)
    drawn.arrow(562, 165, 562, 140)
    drawn.words(495, 185, "each border copies tensors between", "middle")
    drawn.words(495, 202, "the delegate's memory and the arena", "middle")
    return drawn


def quantization() -> Diagram:
    """Error that a layer inherits, and error that it adds."""
    drawn = Diagram("Inherited and added quantization error", 860, 330)
    drawn.words(20, 75, "float", bold=True)
    drawn.words(20, 195, "int8", bold=True)
    for place, name in enumerate(("layer 1", "layer 2", "layer 3")):
        x = 110 + place * 250
        drawn.box(x, 45, 130, 50, name, TEAL)
        drawn.box(x, 165, 130, 50, name, BLUE)
        if place:
            drawn.arrow(x - 118, 70, x - 2, 70)
            drawn.arrow(x - 118, 190, x - 2, 190)
    for x in (240, 490, 740):
        drawn.arrow(x, 98, x, 162, both=True)
    drawn.words(252, 135, "0.3 steps")
    drawn.words(502, 135, "2.7 steps")
    drawn.words(752, 135, "2.8 steps")
    drawn.words(20, 255, "inherited", bold=True)
    drawn.words(110, 255, "the distance between the two runs after a layer: it grows from layer to layer.")
    drawn.words(20, 290, "added", bold=True)
    drawn.words(
        110, 290, "the error of the int8 layer alone, fed with what it really received: layer 2 is at fault,"
    )
    drawn.words(110, 307, "layer 3 only passes its error on.")
    return drawn


DIAGRAMS = {
    "process_model": process_model,
    "arena": arena,
    "xnnpack": xnnpack,
    "delegates": delegates,
    "quantization": quantization,
}


def diagrams() -> dict[Path, str]:
    """Every diagram with its file."""
    return {PICTURES / f"concept_{name}.svg": draw().svg() for name, draw in DIAGRAMS.items()}
