"""Runs what the pages of the documentation ask their reader to run, and writes or compares what they show.

    ```console                    a command, and what it prints in a terminal of 80 columns
    $ outlive check m.tflite  # exit 1
    ...
    ```
    ```python                     a program; what it prints is in the block that follows it,
    ```                           ```text title="Output"

`<!-- output: 8 -->` before a block keeps the first 8 lines of each command (25 without it);
`<!-- output: none -->` keeps none.

One rule says what may differ between two runs (`mask`): a number with a decimal point or with a unit of time,
memory or share, a table's cell of three digits or more (202 ms may stand where 138.2 did), and an address,
stand for any other of the same kind, so that a page cannot show bytes for milliseconds; white space and lines
of a drawing count as one space.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from docs_server import Done, PageServer, cache_of, page_environment

from outlive import demo_models

ROOT = Path(__file__).resolve().parent.parent
MOST_LINES = 25
MORE = "..."
BLOCK = re.compile(
    r"(?:^<!-- output: (?P<lines>none|\d+) -->\n)?"
    r"^```(?P<kind>console|python)\n(?P<text>.*?)^```$"
    r'(?P<shown>\n\n?```text title="Output"\n(?P<output>.*?)^```$)?',
    re.MULTILINE | re.DOTALL,
)
EXIT = re.compile(r"#\s*exit (\d+)\s*$")
# What only a shell understands; a line without it can be given to the command itself.
SHELL = re.compile(r"[$`\\~]")
OPERATOR = re.compile(r"[();<>|&]+")
VOLATILE = re.compile(
    r"0x[0-9a-f]+"
    r"|(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)+(?:e[-+]?\d+)?(?: ?(?:[kKMG]i?B|B|[nuµm]?s|s|%))?(?!\w)"
    r"|(?<![\w.])[-+]?\d[\d,]* ?(?:[kKMG]i?B|B|[nuµm]s|s|seconds?|min|%|measurements?)(?!\w)"
    r"|(?<=  )\d{3,}(?=  |$)",
    re.MULTILINE,
)
_TIMES = ("ns", "us", "µs", "ms", "s", "second", "seconds", "min")
DRAWING = re.compile(r"[\s─│┌┐└┘├┤┬┴┼━╭╮╰╯▁▂▃▄▅▆▇█░▒▓▏▎▍▌▋▊▉]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One command or program of a page: what it is to end with, and what the page shows of it."""

    kind: str
    line: str
    promised: int
    shown: str
    lines: int


def pages() -> list[Path]:
    """The pages whose blocks are run: all but the reference, which is made from the code."""
    patterns = ("README.md", "docs/**/*.md", "examples/*/README.md")
    found = (path for pattern in patterns for path in ROOT.glob(pattern))
    return sorted(path for path in found if "reference" not in path.parts)


def mask(text: str) -> str:
    """A text without what differs from one run to the next: see the rule above."""
    return DRAWING.sub(" ", VOLATILE.sub(_masked_figure, text)).strip()


def _masked_figure(found: re.Match[str]) -> str:
    """A mark for a figure, with the kind of its unit: bytes, seconds or a share."""
    unit = re.search(r"[a-zµ%]*$", found[0], re.IGNORECASE)
    word = "" if unit is None or found[0].startswith("0x") else unit[0]
    return "#" + ("B" if word.endswith("B") else "%" if word == "%" else "s" if word in _TIMES else "")


def agrees(shown: str, printed: str) -> bool:
    """Whether a page shows what a command prints; a page may end early, with "..."."""
    if not shown.strip():
        return True
    lines = shown.rstrip().splitlines()
    if lines[-1].strip() == MORE:
        return mask(printed).startswith(mask("\n".join(lines[:-1])))
    return mask(shown) == mask(printed)


def steps(match: re.Match[str]) -> Iterator[Step]:
    """The steps of one block."""
    lines = 0 if match["lines"] == "none" else int(match["lines"] or MOST_LINES)
    if match["kind"] == "python":
        yield Step(kind="python", line=match["text"], promised=0, shown=match["output"] or "", lines=lines)
        return
    for part in re.split(r"^\$ ", match["text"], flags=re.MULTILINE)[1:]:
        line, _, shown = part.partition("\n")
        promised = EXIT.search(line)
        yield Step(
            kind="console",
            line=EXIT.sub("", line).rstrip(),
            promised=int(promised[1]) if promised else 0,
            shown=shown,
            lines=lines,
        )


def cut_short(printed: str, lines: int) -> str:
    """The first lines of what a command prints, as a page shows them."""
    told = [line.rstrip() for line in printed.strip("\n").splitlines()]
    kept = [*told[:lines], MORE] if len(told) > lines + 1 else told
    return "".join(f"{line}\n" for line in kept) if lines else ""


@dataclass(kw_only=True)
class PageRunner:
    """Runs pages, each in a folder with the demo models; a command that changes nothing runs once."""

    server: PageServer
    known: dict[str, Done] = field(default_factory=dict)

    def problems(self, page: Path, folder: Path) -> list[str]:
        """What on a page does not hold, in words."""
        found = []
        for step, done in self._run_all(page, folder):
            if done.code != step.promised or "Traceback (most recent" in done.output:
                found.append(
                    f"{step.line.strip()[:80]!r} ended with {done.code}, not {step.promised}: {done.output}"
                )
            elif not agrees(step.shown, done.output):
                found.append(
                    f"{step.line.strip()[:80]!r} prints something else than the page shows; run "
                    f"`make docs-output`\nshown:   {mask(step.shown)}\nprinted: {mask(done.output)}"
                )
        return found

    def record(self, page: Path, folder: Path) -> str:
        """The text of a page with what its commands print now."""
        printed = iter([done.output for _, done in self._run_all(page, folder)])
        return BLOCK.sub(lambda match: _written(match, printed), page.read_text("utf-8"))

    def _run_all(self, page: Path, folder: Path) -> Iterator[tuple[Step, Done]]:
        copy_models(folder)
        for beside in page.parent.glob("*.py"):
            shutil.copy(beside, folder)
        for match in BLOCK.finditer(page.read_text("utf-8")):
            for step in steps(match):
                yield step, self.run(step, folder)

    def run(self, step: Step, folder: Path) -> Done:
        """Run one step, or take what it printed before where it can print nothing else."""
        key = step.line if step.kind == "console" and _names_demo_models_only(step.line) else ""
        if key in self.known:
            return self.known[key]
        before = _listing(folder)
        done = run_line(step, folder, self.server)
        if key and _listing(folder) == before:
            self.known[key] = done
        return done


def _names_demo_models_only(line: str) -> bool:
    """Whether all that a command reads are models that ship with the package."""
    models = {f"{model.name}.tflite" for model in demo_models.DEMO_MODELS}
    words = line.split()
    named = [word for word in words[2:] if "." in word or "/" in word or "*" in word]
    return words[0] == "outlive" and bool(named) and set(named) <= models


def _listing(folder: Path) -> list[tuple[str, int]]:
    return sorted((path.name, path.stat().st_mtime_ns) for path in folder.iterdir())


def copy_models(folder: Path) -> None:
    """Put the models that ship with the package into a folder."""
    for model in demo_models.DEMO_MODELS:
        shutil.copy(demo_models.path(model.name), folder)


def _written(match: re.Match[str], printed: Iterator[str]) -> str:
    head = f"<!-- output: {match['lines']} -->\n" if match["lines"] else ""
    fence = f"{head}```{match['kind']}\n"
    if match["kind"] == "python":
        output = cut_short(next(printed), next(steps(match)).lines)
        shown = f'\n\n```text title="Output"\n{output}```' if output else ""
        return f"{fence}{match['text']}```{shown}"
    lines = [line[2:] for line in match["text"].splitlines() if line.startswith("$ ")]
    parts = [
        f"$ {line}\n{cut_short(next(printed), step.lines)}"
        for line, step in zip(lines, steps(match), strict=True)
    ]
    between = "\n" if any(part.count("\n") > 1 for part in parts) else ""
    body = between.join(parts)
    return f"{fence}{body}```"


def run_line(step: Step, folder: Path, server: PageServer) -> Done:
    """Run a command line or a piece of Python: its exit code and all that it prints."""
    if step.kind == "python":
        return server.run("python", [step.line], folder, one_stream=True)
    words = plain_words(step.line, folder)
    if words and words[0] == "outlive":
        return server.run("outlive", words, folder, one_stream=True)
    if words[:2] == ["python", "-c"] and len(words) == 3:
        return server.run("python", words[2:], folder, one_stream=True)
    return run_in_shell(step.line, folder, one_stream=True)


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


def run_in_shell(line: str, folder: Path, *, one_stream: bool = False) -> Done:
    """Run a command line as a shell does."""
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=page_environment() | {"OUTLIVE_CACHE": cache_of(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if one_stream else subprocess.PIPE,
        text=True,
        check=False,
    )
    code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return Done(code=code, output=done.stdout, errors=done.stderr or "")
