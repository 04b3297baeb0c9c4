"""Every command that is shown with a path can be pasted: the path is one word, and does nothing."""

from __future__ import annotations

import ast
import html
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import outlive
from outlive import demo_models
from outlive.cli.main import main
from outlive.diagnosis.diagnosis_record import Diagnosis, Reproducer
from outlive.finding import Evidence, Fault, Finding, Remedy, Severity, Tag, shell_path
from outlive.fitting import Fit
from outlive.names import whole
from outlive.rendering import page_of
from outlive.rendering.finding_text import plain_finding
from outlive.rendering.media.html import render_html
from outlive.rendering.media.text import draw_text
from outlive.rendering.page import Command, Findings, Page, PageVerdict, Section
from outlive.rendering.pages.diagnose import diagnosis_section
from outlive.rules.wording import command
from tests.rendering.stage import drawn, plain
from tests.rendering.test_fit import BUDGET

SOURCES = Path(outlive.__file__).parent
NAMES = (
    "a b$(touch pwned);x.tflite", "-x.tflite", "it's `touch pwned`.tflite", 'q"; touch pwned; ".tflite',
    "a&touch pwned&.tflite", "*.tflite",
)  # fmt: skip
# What commands begin with: in the shell of the tests they tell their words and do nothing.
PROGRAMS = ("outlive", "python", "git", "unzip")
BASH = shutil.which("bash") or ""
SHELL = "".join(f"{name}() {{ printf '%s\\0' \"$@\"; }}\n" for name in PROGRAMS)


def pasted(line: str, folder: Path) -> list[str]:
    """The words that a program gets when this line is pasted into a shell."""
    if not BASH:
        pytest.skip("needs bash, into which commands are pasted")
    done = subprocess.run([BASH, "-c", f"{SHELL}{line}"], cwd=folder, capture_output=True, check=True)
    assert done.stderr == b""
    assert not (folder / "pwned").exists(), line
    return [os.fsdecode(word) for word in done.stdout.split(b"\0")[:-1]]


def assert_is_one_word(line: str, name: str, folder: Path) -> None:
    words = pasted(line, folder)
    assert (f"./{name}" if name.startswith("-") else name) in words, line


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", NAMES)
def test_a_path_is_one_word(name: str, folder: Path) -> None:
    assert_is_one_word(f"outlive run {shell_path(name)}", name, folder)
    assert_is_one_word(command("outlive plan", name, "--sweep", "batch=1,2"), name, folder)
    assert command("outlive plan", None) == ""


def remedies(found: Any) -> Iterator[str]:
    """All commands in a JSON document, wherever they are."""
    if isinstance(found, dict):
        yield from (value for key, value in found.items() if key == "command" and value)
        found = list(found.values())
    for item in found if isinstance(found, list) else ():
        yield from remedies(item)


@pytest.mark.parametrize("name", NAMES[:2])
def test_the_commands_of_a_report(name: str, folder: Path) -> None:
    shutil.copy(demo_models.path("deadly"), folder / name)
    assert main(["report", "-o", "page.html", "--", name]) == 3
    text = (folder / "page.html").read_text("utf-8")
    copied = [html.unescape(found) for found in re.findall(r'data-copy="([^"]*)"', text)]
    document = json.loads(text.split('id="outlive-document">')[1].split("</script>")[0])
    stem = name.rpartition(".")[0].lstrip("-")
    lines = [line for line in (*copied, *remedies(document)) if stem in line]
    assert len(lines) >= 7
    assert len([line for line in lines if " --reduce " in line]) == 1
    for line in lines:
        assert_is_one_word(line, name, folder)


@pytest.mark.parametrize("name", NAMES)
def test_the_commands_of_a_diagnosis_that_never_ran(name: str, folder: Path, diagnosis: Diagnosis) -> None:
    script = replace(diagnosis, reproducer=Reproducer(path=name, ops=(0,), bytes=1, script=name))
    for made, start in ((replace(diagnosis, path=name), "outlive "), (script, "python ")):
        (block,) = [item for item in diagnosis_section(made).blocks if isinstance(item, Command)]
        assert_is_one_word(block.command, name, folder)
        told = plain(draw_text(page_of(made)))
        assert_is_one_word(told[told.rindex(start) :].strip(), name, folder)


@pytest.fixture(scope="module")
def diagnosis() -> Diagnosis:
    """One that ended badly."""
    return outlive.diagnose(demo_models.path("deadly"))


def test_the_command_of_a_model_that_does_not_run(folder: Path) -> None:
    for name in NAMES:
        told = drawn(Fit(chosen=None, candidates=(), budget=BUDGET, source=name, refusal="no"))
        (line,) = re.findall(r"^    (outlive diagnose .*)$", told, re.MULTILINE)
        assert_is_one_word(line, name, folder)


def _with(words: str) -> Finding:
    return Finding(
        code="D504", name="x", severity=Severity.ERROR, headline="x", where="x", why="x",
        evidence=(Evidence(fact="x", source="x"),), confidence="certain", fault=Fault.FILE,
        remedies=(Remedy(action="x", tag=Tag.SAME_RESULTS, command=words),),
    )  # fmt: skip


def test_a_command_is_whole_or_not_there_at_all(folder: Path) -> None:
    """Cut in the middle, the quotes of this one would no longer close where they should."""
    name = "'" * 60 + "$(touch pwned)" + "'" * 60
    line = f"outlive run {shell_path(name)}"
    assert len(line) > 600
    assert line in plain_finding(_with(line))
    page = render_html(_page(_with(line)), {})
    (copied,) = [html.unescape(found) for found in re.findall(r'data-copy="([^"]*)"', page)]
    assert copied == line
    assert_is_one_word(copied, name, folder)
    endless = f"outlive run {shell_path('x' * 20_000)}"
    assert "x" * 100 not in plain_finding(_with(endless))
    assert "data-copy=" not in render_html(_page(_with(endless)), {})


def test_a_command_with_an_escaped_name_is_not_copied(folder: Path) -> None:
    line = f"outlive run {shell_path(chr(27) + '[31m$(touch pwned)')}"
    assert "\x1b" not in plain_finding(_with(line))
    page = render_html(_page(_with(line)), {})
    assert "data-copy=" not in page
    assert pasted(whole(line), folder)[0] == "run"


def _page(found: Finding) -> Page:
    section = Section(id="f", title="f", blocks=(Findings(findings=(found,)),))
    return Page(title="x", kind="check", verdict=PageVerdict(tone="bad", word="x"), sections=(section,))


COMMAND = re.compile(r"(^|[`\s;:])(outlive (?!explain)[a-z]+|python|git|unzip) [^.]*$")
A_PATH = re.compile(r"(^|[._\s(])(path|source|script|file|folder)\b")

QUOTED = re.compile(r"^shlex\.(quote|join)\(.*(^|[._\s(])(path|source|script|file|folder)\b")


def is_shlex(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "shlex"


def unquoted(tree: ast.AST) -> Iterator[str]:
    """Paths that are put into commands, or quoted for them, in another way than `shell_path`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield from (f"{node.lineno}: {words}" for words in in_commands(node))
        elif isinstance(node, ast.Call) and is_shlex(node.func) and QUOTED.search(ast.unparse(node)):
            yield f"{node.lineno}: {ast.unparse(node)}"


def in_commands(node: ast.JoinedStr) -> Iterator[str]:
    said = ""
    for part in node.values:
        words = ast.unparse(part.value) if isinstance(part, ast.FormattedValue) else ""
        if COMMAND.search(said) and A_PATH.search(words) and "shell_path(" not in words:
            yield words
        said += str(part.value) if isinstance(part, ast.Constant) else "{}"


def test_every_command_in_the_code_takes_the_one_way() -> None:
    found = []
    for path in sorted(SOURCES.rglob("*.py")):
        room = path.relative_to(SOURCES)
        if room.parts[0] not in ("process", "interpreter") and room != Path("finding.py"):
            found += [f"{room}:{line}" for line in unquoted(ast.parse(path.read_text("utf-8")))]
    # Messages on errors, which begin with the name of the command, are no commands.
    assert [line for line in found if ": error" not in line] == []


@pytest.mark.parametrize(
    "line",
    [
        "f'outlive diagnose {diagnosis.path} --reduce'",
        "f'`outlive diagnose {safe(fit.source, 100)}` says why'",
        "f'python {made.script}'",
        "shlex.quote(seen.path or 'MODEL')",
    ],
)
def test_the_search_finds_what_it_is_there_for(line: str) -> None:
    assert list(unquoted(ast.parse(line)))
