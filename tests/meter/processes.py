"""Processes that hold memory of a known kind until they are told to go on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

MIB = 1 << 20

linux_only = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="reads /proc, which only Linux has"
)

# Each line we send is a Python statement; the answer "ok" says that it is done.
_SERVANT = """
import mmap, os, sys
for line in sys.stdin:
    exec(line)
    print("ok", flush=True)
"""


class Servant:
    """A Python process that does one statement after the other."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _SERVANT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.pid = self.process.pid
        self.do("pass")

    def do(self, statement: str) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(statement + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "ok\n", f"the process died of: {statement}"

    def ask(self, expression: str) -> str:
        """What the expression gives, as text."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"print({expression}, flush=True)\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        assert self.process.stdout.readline() == "ok\n"
        return answer

    def tell(self, statement: str) -> None:
        """Send a statement that will not be answered."""
        assert self.process.stdin is not None
        self.process.stdin.write(statement + "\n")
        self.process.stdin.flush()

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@contextmanager
def servant() -> Iterator[Servant]:
    """A servant that is gone at the end."""
    process = Servant()
    try:
        yield process
    finally:
        process.end()
