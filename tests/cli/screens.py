"""What a terminal shows of the main commands, kept as files in `golden/` at 60, 80 and 120 columns.

    python -m tests.cli.screens [NAME ...]     write them anew; look at each before you commit it

Figures that a clock, a scheduler or a processor decides are `#`, and always as wide: they are masked in the
page, before it is drawn. Columns, line breaks and indents are therefore those of the real command.
"""

from __future__ import annotations

import fcntl
import functools
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

from outlive.rendering import page as ui
from outlive.verbs.demo import copy_demo_models
from tests.cli.processes import COMMAND, environment

FOLDER = Path(__file__).parent / "golden"
COLUMNS = (60, 80, 120)
_ROOT = Path(__file__).parents[2]
_SECONDS = 300
_UNIT = r"(?:B|KB|MB|GB|KiB|MiB|GiB|bytes|ms|us|s|dB)"
# A number with a unit or a percent sign, with a fraction, or with thousands.
_VOLATILE = re.compile(
    rf"(?<![\w.])(?:\d[\d,.]*(?=\s+{_UNIT}\b|%)|\d[\d,]*(?:\.\d+)+|\d{{1,3}}(?:,\d{{3}})+)"
)
_MASK = "##.#"
_NEXT = "--- next ---\n"
_MASK_OF_KIND = {"bytes": "##.# KiB", "bar": "##.# KiB", "share": "##.#%"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """A command to show. With `measured`, figures are masked."""

    words: str
    measured: bool = False
    most_lines: int = 25


SCREENS = {
    "overview": Screen(words=""),
    "help": Screen(words="--help", most_lines=60),
    "wrong-option": Screen(words="plan healthy.tflite --rma 3MB", most_lines=4),
    "wrong-value": Screen(words="plan healthy.tflite --format jsn", most_lines=4),
    "wrong-command": Screen(words="chekc healthy.tflite", most_lines=4),
    "missing-file": Screen(words="check gone.tflite"),
    "check-folder": Screen(words="check ."),
    "check-deadly": Screen(words="check deadly.tflite"),
    "check-clean": Screen(words="check healthy_int8.tflite"),
    "check-quiet": Screen(words="check . -q", most_lines=5),
    "read": Screen(words="read healthy.tflite", most_lines=40),
    "explain": Screen(words="explain O109"),
    "cut": Screen(words="cut healthy.tflite --ops 2:5 -o part.tflite"),
    "plan": Screen(words="plan healthy.tflite", measured=True),
    "plan-device": Screen(words="plan healthy.tflite --device raspberry-pi-zero-2-w", measured=True),
    "plan-too-big": Screen(words="plan too_big.tflite --ram 64MB", measured=True),
    "plan-micro": Screen(words="plan healthy_int8.tflite --device raspberry-pi-pico"),
    "run": Screen(words="run healthy.tflite", measured=True),
    "run-deadly": Screen(words="run deadly.tflite", measured=True),
    "diagnose": Screen(words="diagnose deadly.tflite", measured=True),
    "compare": Screen(words="compare healthy.tflite healthy_int8.tflite", measured=True),
    "fit": Screen(words="fit healthy.tflite --ram 4MB", measured=True),
    "checkup": Screen(words="healthy.tflite", measured=True),
    "checkup-deadly": Screen(words="deadly.tflite", measured=True),
    "quantize": Screen(words="quantize healthy.tflite -o small.tflite", measured=True),
    "export": Screen(words="export healthy_int8.tflite -o firmware", measured=True),
}


def shown(screen: Screen, columns: int) -> str:
    """What a terminal of that width shows of a command, without colours; complaints come last."""
    if screen.measured:
        return _drawn(screen.words)[COLUMNS.index(columns)]
    return "".join(_run([*COMMAND, *screen.words.split()], columns))


@functools.cache
def _drawn(words: str) -> list[str]:
    """A command that runs once, drawn at each width: what it measures takes time."""
    command = [sys.executable, "-m", "tests.cli.screens", "--masked", *words.split()]
    out, err = _run(command, COLUMNS[0])
    return [screen + err for screen in out.split(_NEXT)[: len(COLUMNS)]]


def _run(command: list[str], columns: int) -> tuple[str, str]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "models"
        list(copy_demo_models(folder))
        return _run_in(folder, command, columns)


def _run_in(folder: Path, command: list[str], columns: int) -> tuple[str, str]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    settings = environment(
        NO_COLOR="1", COLUMNS=str(columns), OUTLIVE_CACHE=str(folder.parent / "cache"), PYTHONPATH=str(_ROOT)
    )
    process = subprocess.Popen(
        command, cwd=folder, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, env=settings
    )
    os.close(theirs)
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        sent = b"".join(iter(lambda: _read(terminal.fileno()), b""))
    assert process.stderr is not None
    with process.stderr as stream:
        said = stream.read()
    process.wait(timeout=_SECONDS)
    return _plain(sent), _plain(said)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # Linux says so when the other end of a terminal is closed
        return b""


def _plain(sent: bytes) -> str:
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", sent.decode()).replace("\r\n", "\n")
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def masked(text: str) -> str:
    """The text with the mask for sizes, times, shares and fractions; counts, codes, shapes and units stay."""
    return _VOLATILE.sub(_MASK, text)


def masked_page(part: Any) -> Any:
    """A page, or a part of it, with its figures masked."""
    if isinstance(part, str) and not isinstance(part, Enum):
        return masked(part)
    if isinstance(part, tuple):
        return tuple(map(masked_page, part))
    if isinstance(part, ui.Table):
        return replace(part, caption=masked(part.caption), rows=[_masked_row(part, row) for row in part.rows])
    if isinstance(part, ui.Chart):
        return replace(part, summary=masked(part.summary), data={})
    if not is_dataclass(part) or isinstance(part, (ui.Column, type)):
        return part
    return replace(part, **{field.name: masked_page(getattr(part, field.name)) for field in fields(part)})


def _masked_row(table: ui.Table, row: Any) -> tuple[ui.Cell, ...]:
    """Cells as text of a fixed width; counts stay."""
    cells = zip(table.columns, row, strict=True)
    return tuple(_masked_cell(column, value) for column, value in cells)


def _masked_cell(column: ui.Column, value: ui.Cell) -> ui.Cell:
    if isinstance(value, (int, float)) and column.kind in _MASK_OF_KIND:
        return _MASK_OF_KIND[column.kind]
    return _MASK if isinstance(value, float) else masked(ui.cell_text(column, value))


def show_masked(words: list[str]) -> int:
    """The command in this process; its page, masked, at each width."""
    from outlive.cli.main import main as command
    from outlive.rendering.console import print_parts
    from outlive.rendering.media import text

    draw, pages = text.draw_text, list[Any]()
    text.draw_text = lambda page, detail=0: pages.append((masked_page(page), detail)) or iter(())
    code = command(words)
    for columns in COLUMNS:
        os.environ["COLUMNS"] = str(columns)
        for page, detail in pages:
            print_parts(draw(page, detail), sys.stdout)
        sys.stdout.write(_NEXT)
    return code


def main() -> int:
    """Write every screen."""
    if sys.argv[1:2] == ["--masked"]:
        return show_masked(sys.argv[2:])
    FOLDER.mkdir(exist_ok=True)
    chosen = sys.argv[1:] or list(SCREENS)
    for name in chosen:
        for columns in COLUMNS:
            text = shown(SCREENS[name], columns)
            (FOLDER / f"{name}.{columns}.txt").write_text(text, encoding="utf-8")
        print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
