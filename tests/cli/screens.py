"""What a terminal shows of the main commands, kept as files in `golden/` at 60, 80 and 120 columns.

    python -m tests.cli.screens        write them anew; look at each before you commit it

Numbers that a clock, a scheduler or a processor decides are `#` in the files.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from dataclasses import dataclass
from pathlib import Path

from outlive.verbs.demo import copy_demo_models
from tests.cli.processes import COMMAND, environment

FOLDER = Path(__file__).parent / "golden"
COLUMNS = (60, 80, 120)
_SECONDS = 300
_UNIT = r"(?:B|KB|MB|GB|KiB|MiB|GiB|bytes|ms|us|s|dB)"
# A number with a unit or a percent sign, with a fraction, or with thousands.
_VOLATILE = re.compile(rf"(?<![\w.])(?:\d[\d,]*(?=\s+{_UNIT}\b|%)|\d[\d,]*(?:\.\d+)+|\d{{1,3}}(?:,\d{{3}})+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """A command to show. With `measured`, numbers are masked, and where lines are broken does not count."""

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
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "models"
        list(copy_demo_models(folder))
        out, err = _run(screen.words.split(), folder, columns)
    return masked(out + err) if screen.measured else out + err


def _run(words: list[str], folder: Path, columns: int) -> tuple[str, str]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    settings = environment(NO_COLOR="1", COLUMNS=str(columns), OUTLIVE_CACHE=str(folder.parent / "cache"))
    process = subprocess.Popen(
        [*COMMAND, *words], cwd=folder, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, env=settings
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
    """The text with `#` for digits of sizes, times, shares and fractions; counts, codes and shapes stay."""
    text = re.sub(r"[▁▂▃▄▅▆▇█▏▎▍▌▋▊▉]", "~", text)
    return _VOLATILE.sub(lambda found: re.sub(r"\d", "#", found[0]), text)


def words_of(text: str) -> str:
    """What does not depend on where lines are broken, or how wide a column is."""
    # How wide the columns of candidates are, and so where they are cut, depends on the times beside them.
    text = text.partition("\nCandidates\n")[0]
    text = re.sub(r"[\s~]+", " ", text).replace("\\ ", "")
    return re.sub(rf"[#.,]*#(?: ?{_UNIT}\b)?", "#", text)


def main() -> int:
    """Write every screen."""
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
