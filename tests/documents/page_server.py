"""Runs commands and pieces of Python in forks of one process that has everything imported.

Most of the time of a short command is Python's start and its imports. Each fork is a process of its own: what
one command leaves behind, the next does not see.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a command ended, and what it printed."""

    code: int
    output: str
    errors: str


class PageServer:
    """The process that forks; `run` waits for one command."""

    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("page_child.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )

    def run(self, kind: str, words: list[str], folder: Path) -> Done:
        """Run a command line ("outlive") or a piece of Python ("python") in a folder."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        output, errors = folder / ".page-output", folder / ".page-errors"
        asked = {
            "kind": kind,
            "words": words,
            "folder": str(folder),
            "output": str(output),
            "errors": str(errors),
        }
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        code = json.loads(self._process.stdout.readline())
        told = [path.read_text("utf-8", "replace") for path in (output, errors)]
        for path in (output, errors):
            path.unlink()
        return Done(code=code, output=told[0], errors=told[1])

    def close(self) -> None:
        """End the process; it ends by itself when nobody asks any more."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()
