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

ROOT = Path(__file__).resolve().parent.parent
# Pages show what a terminal of this width shows.
COLUMNS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a command ended, and what it printed."""

    code: int
    output: str
    errors: str


def cache_of(folder: Path) -> str:
    """Where commands of a page keep what they know: beside its folder, so that no page depends on another."""
    return str(folder.with_name(f"{folder.name}-cache"))


def page_environment() -> dict[str, str]:
    """The environment that commands of a page run in: this tree's code, no colours, a fixed width."""
    told = {
        "PYTHONPATH": str(ROOT / "src"),
        "COLUMNS": str(COLUMNS),
        "NO_COLOR": "1",
        "PYTHONUNBUFFERED": "1",
    }
    own = str(Path(sys.executable).parent)
    # Pages show what a person sees: where CI is set, programs such as pytest do not shorten long lines.
    inherited = {name: value for name, value in os.environ.items() if name not in ("CI", "BUILD_NUMBER")}
    return {**inherited, **told, "PATH": os.pathsep.join((own, os.environ["PATH"]))}


class PageServer:
    """The process that forks; `run` waits for one command."""

    def __init__(self) -> None:
        environment = page_environment() | {"OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("docs_server_child.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )

    def run(self, kind: str, words: list[str], folder: Path, *, one_stream: bool = False) -> Done:
        """Run a command line ("outlive") or a piece of Python ("python") in a folder.

        With `one_stream` standard error is part of the output, as a terminal shows it.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        output = folder / ".page-output"
        errors = output if one_stream else folder / ".page-errors"
        asked = {
            "kind": kind,
            "words": words,
            "folder": str(folder),
            "output": str(output),
            "errors": str(errors),
            "cache": cache_of(folder),
        }
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        code = json.loads(self._process.stdout.readline())
        told = [path.read_text("utf-8", "replace") for path in (output, errors)]
        for path in {output, errors}:
            path.unlink()
        return Done(code=code, output=told[0], errors="" if one_stream else told[1])

    def close(self) -> None:
        """End the process; it ends by itself when nobody asks any more."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(300)
        self._process.stdout.close()
