"""What a page of the documentation asks its reader to run, and running it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from outlive import demo_models
from tests.documents.page_server import PageServer

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXIT = re.compile(r"#\s*exit (\d+)\s*$")
# What only a shell understands; a line without it can be given to the command itself.
SHELL = re.compile(r"[$`\\~]")
OPERATOR = re.compile(r"[();<>|&]+")


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """The runnable blocks of a page, in order: ("console" or "python", text)."""
    for match in BLOCK.finditer(page.read_text("utf-8")):
        yield match[1], match[2]


def commands(text: str) -> Iterator[tuple[str, int]]:
    """The commands of a console block, each with the exit code the page promises."""
    for line in text.splitlines():
        if line.startswith("$ "):
            promised = EXIT.search(line)
            yield EXIT.sub("", line[2:]).rstrip(), int(promised[1]) if promised else 0


def run_page(page: Path, folder: Path, server: PageServer) -> list[str]:
    """Run all blocks of a page in a folder that holds the demo models; what went wrong, in words."""
    for model in demo_models.DEMO_MODELS:
        shutil.copy(demo_models.path(model.name), folder)
    for beside in page.parent.glob("*.py"):
        shutil.copy(beside, folder)
    problems = []
    for kind, text in blocks(page):
        work = list(commands(text)) if kind == "console" else [(text, 0)]
        for line, promised in work:
            code, errors = run_line(kind, line, folder, server)
            if code != promised or "Traceback" in errors:
                problems.append(f"{line.strip()[:80]!r} ended with {code}, not {promised}: {errors}")
    return problems


def run_line(kind: str, line: str, folder: Path, server: PageServer) -> tuple[int, str]:
    """The exit code and the standard error of a command line, or of a piece of Python."""
    if kind == "python":
        done = server.run("python", [line], folder)
        return done.code, done.errors
    words = plain_words(line, folder)
    if words and words[0] == "outlive":
        done = server.run("outlive", words, folder)
    elif words and words[:2] == ["python", "-c"] and len(words) == 3:
        done = server.run("python", words[2:], folder)
    else:
        return run_in_shell(line, folder)[::2]
    return done.code, done.errors


def plain_words(line: str, folder: Path) -> list[str]:
    """The words of a line as a shell would give them to the command; none if it takes a shell to run it."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.commenters, lexer.whitespace_split = "", True
    words = list(lexer)
    if SHELL.search(line) or any(OPERATOR.fullmatch(word) for word in words):
        return []
    found: list[str] = []
    for word in words:
        named = sorted(path.name for path in folder.glob(word)) if word.startswith("*.") else []
        found += named or [word]
    return found


def run_in_shell(line: str, folder: Path) -> tuple[int, str, str]:
    """The exit code, the output and the standard error of a command line as a shell runs it."""
    paths = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**os.environ, "PATH": paths, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr
