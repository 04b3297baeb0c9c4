"""Real processes of the command `outlive`: in a pipe, on a terminal, with nobody reading."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping

COMMAND = (sys.executable, "-m", "outlive")
# What a terminal or a CI service sets and what would change colours and widths.
_TAINTED = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES", "TTY_COMPATIBLE")
_SECONDS = 300


def environment(**changes: str) -> dict[str, str]:
    """Our environment without what changes colours and widths, and with what a test asks for."""
    kept = {name: value for name, value in os.environ.items() if name not in _TAINTED}
    return kept | {"TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"} | changes


def run(*words: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """The command with its output in pipes."""
    return subprocess.run(
        [*COMMAND, *words],
        env=env or environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=_SECONDS,
        check=False,
    )


def run_on_terminal(*words: str, columns: int = 100, errors: bool = True, **changes: str) -> tuple[int, str]:
    """The exit code, and what a terminal of that width is sent; without `errors`, to standard output only."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    said = theirs if errors else subprocess.DEVNULL
    process = subprocess.Popen(
        [*COMMAND, *words], stdin=theirs, stdout=theirs, stderr=said, env=environment(**changes)
    )
    os.close(theirs)
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        sent = b"".join(iter(lambda: _read(terminal.fileno()), b""))
    return process.wait(timeout=_SECONDS), sent.decode().replace("\r\n", "\n")


def run_unread(*words: str) -> tuple[int, str]:
    """The exit code and the complaints of a command whose reader has gone away before it writes."""
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.Popen([*COMMAND, *words], stdout=writer, stderr=subprocess.PIPE, env=environment())
    os.close(writer)
    _, errors = process.communicate(timeout=_SECONDS)
    return process.returncode, errors.decode()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # Linux says so when the other end of a terminal is closed
        return b""
