"""Every command and piece of Python in README, docs and examples is run; generated pages are current."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from outlive import demo_models

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from docs_pages import BLOCK, PageRunner, agrees, cut_short, mask, pages, plain_words, run_in_shell  # noqa: E402
from docs_server import PageServer  # noqa: E402

sys.path.pop(0)
PAGES = pages()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_runs_and_shows_what_is_printed(page: Path, tmp_path: Path, runner: PageRunner) -> None:
    assert runner.problems(page, tmp_path) == []


def test_a_wrong_command_is_noticed(tmp_path: Path, runner: PageRunner) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ outlive read nowhere.tflite\n$ cat nowhere | true; false\n```\n"
        "```python\nraise SystemExit(3)\n```\n```python\nundefined\n```\n",
        "utf-8",
    )
    assert len(runner.problems(page, tmp_path)) == 4


def test_a_wrong_output_is_noticed(tmp_path: Path, runner: PageRunner) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ echo one two\none  two\n$ echo 3 layers\n4 layers\n"
        "$ echo a; echo b\na\n...\n$ echo c\nd\n...\n```\n"
        '```python\nprint("yes")\n```\n\n```text title="Output"\nno\n```\n',
        "utf-8",
    )
    told = runner.problems(page, tmp_path)
    assert [re.findall(r"'(.*?)'", one)[0] for one in told] == ["echo 3 layers", "echo c", 'print("yes")']


def test_recording_writes_what_is_printed(tmp_path: Path, runner: PageRunner) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "Text\n\n```console\n$ echo one\nold\n$ false  # exit 1\n```\n\n"
        "<!-- output: none -->\n```console\n$ echo two\n```\n\n"
        '<!-- output: 1 -->\n```python\nprint("a\\nb\\nc")\n```\n\nEnd\n',
        "utf-8",
    )
    page.write_text(runner.record(page, tmp_path), "utf-8")
    assert page.read_text("utf-8") == (
        "Text\n\n```console\n$ echo one\none\n\n$ false  # exit 1\n```\n\n"
        "<!-- output: none -->\n```console\n$ echo two\n```\n\n"
        '<!-- output: 1 -->\n```python\nprint("a\\nb\\nc")\n```\n\n'
        '```text title="Output"\na\n...\n```\n\nEnd\n'
    )
    assert runner.problems(page, tmp_path) == []


def test_only_measured_figures_may_differ() -> None:
    same = (
        ("took 37 ms, 304 KiB", "took 4 ms, 1.2 MiB"),
        ("at 0x7f12 of 2.3.0", "at 0x0 of 2.4.1"),
        ("a  12.0%\n  b", "a 7 % b"),
        ("▁▁▃ 1.50 steps", "▂█ 0.25 steps"),
    )
    other = (
        ("op 3", "op 4"),
        ("error[D504]", "error[D505]"),
        ("311,296 bytes", "311,297 bytes"),
        ("exit 3", "exit 4"),
        ("took 37 ms", "took 37 KiB"),
        ("12.5 MiB left", "12.5% left"),
        ("3.1 ms", "3.1"),
    )
    assert [pair for pair in same if mask(pair[0]) != mask(pair[1])] == []
    assert [pair for pair in other if agrees(*pair)] == []
    assert cut_short("1\n2\n3\n4\n", 2) == "1\n2\n...\n"


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
    assert server.run("outlive", plain_words(line, tmp_path), tmp_path) == run_in_shell(line, tmp_path)


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


# Lines of `sh` blocks that no test can run, and why; the README's are run in a fresh clone by test_readme.py.
NOT_RUN = {
    "git clone ": "needs the network",
    "python -m venv .venv": "the test runs in such an environment",
    "pip install ": "needs a package index",
    "outlive notebook install": "changes the IPython profile; tests/jupyter runs it in another one",
}


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name != "README.md"], ids=lambda page: page.stem
)
def test_a_block_that_is_not_run_has_a_reason(page: Path) -> None:
    blocks = re.findall(
        r"^```(?:sh|bash|shell)\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    lines = [line for block in blocks for line in block.splitlines() if line.strip()]
    assert [line for line in lines if not line.startswith(tuple(NOT_RUN))] == []


def test_pages_have_something_to_run() -> None:
    assert sum(1 for page in PAGES for _ in BLOCK.finditer(page.read_text("utf-8"))) >= 100


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
