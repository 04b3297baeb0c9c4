"""Every command and piece of Python in README, docs and examples is run; generated pages are current."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from outlive import demo_models

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path
    for pattern in ("README.md", "docs/**/*.md", "examples/*/README.md")
    for path in ROOT.glob(pattern)
    if "reference" not in path.parts
)
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXIT = re.compile(r"#\s*exit (\d+)\s*$")


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """The runnable blocks of a page, in order: ("console" or "python", text)."""
    for match in BLOCK.finditer(page.read_text("utf-8")):
        yield match[1], match[2]


def commands(text: str) -> Iterator[tuple[str, int]]:
    """The commands of a console block, each with the exit code the page promises."""
    for line in text.splitlines():
        if line.startswith("$ "):
            promised = EXIT.search(line)
            yield line[2:], int(promised[1]) if promised else 0


def run_page(page: Path, folder: Path) -> list[str]:
    """Run all blocks of a page in a folder that holds the demo models; what went wrong, in words."""
    for model in demo_models.DEMO_MODELS:
        shutil.copy(demo_models.path(model.name), folder)
    for beside in page.parent.glob("*.py"):
        shutil.copy(beside, folder)
    paths = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**os.environ, "PATH": paths, "PYTHONPATH": str(ROOT / "src")}
    problems = []
    for kind, text in blocks(page):
        work = list(commands(text)) if kind == "console" else [(text, 0)]
        for line, promised in work:
            command = ["bash", "-c", line] if kind == "console" else [sys.executable, "-c", line]
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, check=False
            )
            if done.returncode != promised or "Traceback" in done.stderr:
                problems.append(
                    f"{line.strip()[:80]!r} ended with {done.returncode}, not {promised}: {done.stderr}"
                )
    return problems


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_runs(page: Path, tmp_path: Path) -> None:
    assert run_page(page, tmp_path) == []


def test_a_wrong_command_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ outlive read nowhere.tflite\n```\n```python\nraise SystemExit(3)\n```\n", "utf-8"
    )
    assert len(run_page(page, tmp_path)) == 2


def test_pages_have_something_to_run() -> None:
    assert sum(1 for page in PAGES for _ in blocks(page)) >= 10


def test_links_lead_somewhere() -> None:
    for page in (*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_generated_pages_are_current() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    tool = [sys.executable, str(ROOT / "tools" / "build_docs.py"), "--check"]
    done = subprocess.run(tool, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run `make docs`: {done.stdout}{done.stderr}"
