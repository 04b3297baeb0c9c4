"""Every command and piece of Python in README, docs and examples is run; generated pages are current."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from outlive import demo_models
from tests.documents.page_blocks import ROOT, blocks, plain_words, run_in_shell, run_page
from tests.documents.page_server import PageServer

PAGES = sorted(
    path
    for pattern in ("README.md", "docs/**/*.md", "examples/*/README.md")
    for path in ROOT.glob(pattern)
    if "reference" not in path.parts
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_runs(page: Path, tmp_path: Path, server: PageServer) -> None:
    assert run_page(page, tmp_path, server) == []


def test_a_wrong_command_is_noticed(tmp_path: Path, server: PageServer) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ outlive read nowhere.tflite\n$ cat nowhere | true; false\n```\n"
        "```python\nraise SystemExit(3)\n```\n```python\nundefined\n```\n",
        "utf-8",
    )
    assert len(run_page(page, tmp_path, server)) == 4


@pytest.mark.parametrize(
    "line",
    [
        "outlive read healthy.tflite --graph",
        "outlive check deadly.tflite",
        "outlive plan too_big.tflite --accelerator builtin --ram 64MB",
        "outlive check *.tflite --select 'O1' --format json",
        "outlive read nowhere.tflite",
        "outlive plan --batch none",
    ],
)
def test_a_fork_ends_as_a_shell_does(line: str, tmp_path: Path, server: PageServer) -> None:
    for name in ("healthy", "deadly", "too_big"):
        (tmp_path / f"{name}.tflite").write_bytes(demo_models.path(name).read_bytes())
    done = server.run("outlive", plain_words(line, tmp_path), tmp_path)
    assert (done.code, done.output, done.errors) == run_in_shell(line, tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "outlive read a > b",
        "outlive read a | head",
        "outlive read $A",
        "outlive read a; true",
        "FOO=1 outlive",
    ],
)
def test_what_needs_a_shell_gets_one(line: str, tmp_path: Path) -> None:
    assert plain_words(line, tmp_path)[:1] != ["outlive"]


def test_pages_have_something_to_run() -> None:
    assert sum(1 for page in PAGES for _ in blocks(page)) >= 10


def test_links_lead_somewhere() -> None:
    for page in (*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_generated_pages_are_current() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    tool = [sys.executable, str(ROOT / "tools" / "build_docs.py"), "--check"]
    done = subprocess.run(tool, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run `make docs`: {done.stdout}{done.stderr}"


def test_paths_in_the_architecture_exist() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    paths = set(re.findall(r"`((?:[a-z_]+/)+[a-z_0-9]*(?:\.[a-z]+)?)`", text))
    assert len(paths) > 30
    homes = (ROOT, ROOT / "src" / "outlive")
    assert [path for path in sorted(paths) if not any((home / path).exists() for home in homes)] == []
