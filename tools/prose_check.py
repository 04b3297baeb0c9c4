#!/usr/bin/env python3
"""Checks every sentence that a user can read: banned words, long sentences, headings, spelling.

    python tools/prose_check.py            the whole tree; exit code 1 if something is found
    python tools/prose_check.py --list     the texts it reads, one per line

It reads the pages and messages of rules, the tables of messages, pages, help texts, docs/*.md, README.md,
changes/ and docstrings of public names. tools/prose_words.toml lists the banned words, and what to write
instead; the list grows. codespell checks the spelling.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
WORDS = Path(__file__).with_name("prose_words.toml")
SILENT = ("kernel_names.py",)  # names of symbols, no prose
PAGES = ("docs/**/*.md", "README.md", "changes/*.md")
_QUOTING = ("docs/errors/", "docs/reference/rules/")
_FENCE = re.compile(r"^\s*(```|~~~)")
_CODE = re.compile(r"`[^`]*`|\]\([^)]*\)|<[^>]+>|https?://\S+")
_FIELD = re.compile(r"\{[^{}]*\}")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|(?<=\?)\s+")
_HEADING = re.compile(r"^#+\s+(.*)$")
# A literal is prose if it has at least three words, of letters for the most part.
_PROSE = re.compile(r"[A-Za-z][a-z]+[ ,;:]+[A-Za-z`'{]+[^ ]*[ ,;:]+\S")


@dataclass(frozen=True, slots=True)
class Text:
    """Something that a user reads, and where it stands."""

    path: Path
    line: int
    words: str
    is_heading: bool = False

    def problem(self, what: str) -> str:
        """A problem with it, as `file:line: what`."""
        return f"{self.path}:{self.line}: {what}"


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """What is banned, and the bounds."""

    banned: Mapping[str, str]
    most_words: int
    names: frozenset[str]
    headings: frozenset[str]
    spelling: tuple[str, ...] = ()


def read_house(path: Path = WORDS) -> House:
    """The words of the house."""
    found: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    return House(
        banned=found["banned"],
        most_words=found["most_words_in_a_sentence"],
        names=frozenset(found["names"]),
        headings=frozenset(found["headings"]),
        spelling=tuple(found["spelling"]),
    )


def problems_in(texts: Iterable[Text], house: House) -> Iterator[str]:
    """What is wrong with the texts, one line each."""
    patterns = [(re.compile(rf"\b(?:{bad})\b", re.IGNORECASE), good) for bad, good in house.banned.items()]
    for text in texts:
        plain = _CODE.sub("CODE", text.words)
        # The names of rules stay, and headings of docs/errors are the words of other programs.
        quoted = text.is_heading and str(text.path).startswith(_QUOTING)
        for pattern, good in () if quoted else patterns:
            match = pattern.search(plain)
            if match is not None:
                instead = f"; write {good}" if good else ""
                yield text.problem(f"'{match.group()}' in {plain.strip()[:80]!r}{instead}")
        if text.is_heading:
            yield from () if quoted else _heading_problems(text, house)
            continue
        for sentence in _SENTENCE.split(" ".join(plain.split())):
            yield from _sentence_problems(text, sentence, house)


def _heading_problems(text: Text, house: House) -> Iterator[str]:
    """Words with a capital that are neither the first nor a name."""
    words = _CODE.sub("CODE", text.words).split()
    for before, word in pairwise(words):
        bare = word.strip(".,:;?!()\"'")
        known = not bare[:1].isupper() or bare in house.names or not bare[1:].islower()
        if not known and not before.endswith((":", ".", "?")):
            yield text.problem(f"heading not in sentence case: {text.words!r} ({bare})")
            return


def _sentence_problems(text: Text, sentence: str, house: House) -> Iterator[str]:
    longest = max(re.split(r"[;:]\s", sentence), key=lambda part: len(part.split()))
    count = len(longest.split())
    if count > house.most_words:
        yield text.problem(f"{count} words in a row, more than {house.most_words}: {longest[:80]!r}")
    is_title = sentence.strip(" .:") in house.headings
    if sentence.startswith("What ") and not is_title and not sentence.rstrip("*_: ").endswith("?"):
        yield text.problem(f"begins with 'What' and is not a question: {sentence[:80]!r}")


def markdown_texts(path: Path, source: str) -> Iterator[Text]:
    """The headings and paragraphs of a page, without code, tables of figures and comments."""
    fenced, start, lines = False, 0, list[str]()
    for number, line in enumerate([*source.splitlines(), ""], 1):
        if _FENCE.match(line):
            fenced = not fenced
        heading = None if fenced else _HEADING.match(line)
        item = re.match(r"\s*([-*+]|\d+\.|\|)\s", line) is not None
        if (fenced or not line.strip() or heading or item or line.startswith(("|", "<", "    "))) and lines:
            yield Text(path, start, " ".join(lines))
            lines = []
        if heading:
            yield Text(path, number, heading[1], is_heading=True)
        elif line.strip() and not fenced and not line.startswith(("|", "<", "    ", "```", "~~~")):
            start = start if lines else number
            lines.append(re.sub(r"^\s*([-*+>]|\d+\.)\s+", "", line.strip()))


def literal_texts(path: Path, source: str) -> Iterator[Text]:
    """The string literals of a module that are prose; f-strings with their fields as a word."""
    tree = ast.parse(source)
    skipped = _docstring_lines(tree)
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "x" for part in node.values)
            words = "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            words = node.value
        else:
            continue
        if (
            node.lineno not in skipped
            and _PROSE.search(words)
            and not words.lstrip().startswith(("#", '"""'))
        ):
            yield from _lines_of(Text(path, node.lineno, words))


def _lines_of(text: Text) -> Iterator[Text]:
    """Its paragraphs; a line that is indented, as in examples, stands alone."""
    for part in re.split(r"\n\s*\n|\n(?=\s)|(?<=\n)(?=\S)(?<!\S\n)", text.words):
        for line in re.split(r"\n(?=  )", part):
            yield Text(text.path, text.line, line)


def _docstring_lines(tree: ast.Module) -> set[int]:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = (node.body[0] for node in ast.walk(tree) if isinstance(node, kinds) and node.body)
    return {first.lineno for first in found if isinstance(first, ast.Expr)}


def page_texts(path: Path, source: str) -> Iterator[Text]:
    """The docstring of a rule's module: its headline and the paragraphs of its page."""
    doc = ast.get_docstring(ast.parse(source)) or ""
    for paragraph in re.split(r"\n(?=\S)|\n\s*\n", doc):
        title, _, rest = paragraph.partition("\n")
        body = paragraph if title.startswith(" ") or not rest else rest
        yield Text(path, 1, " ".join(body.split()))


def public_docstrings(path: Path, source: str, public: frozenset[str]) -> Iterator[Text]:
    """The docstrings of functions and classes that the package offers."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name in public:
            parts = re.split(r"\n\s*\n", ast.get_docstring(node) or "")
            yield from (Text(path, node.lineno, part) for part in parts if ">>>" not in part)


def public_names(package: Path) -> frozenset[str]:
    """What `__all__` of the package lists."""
    tree = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    lists = (
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and any(ast.unparse(name) == "__all__" for name in node.targets)
    )
    return frozenset(name for value in lists for name in ast.literal_eval(value))


def table_texts(path: Path, source: str) -> Iterator[Text]:
    """The words of a table of messages: all strings but patterns, which quote others."""
    for name, value in _strings(tomllib.loads(source)):
        if name in ("means", "do", "title", "where", "say", "note"):
            yield Text(path, 1, value)


def _strings(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _strings(item, str(key))
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item, name)


def texts_of(root: Path) -> Iterator[Text]:
    """All that a user reads, in the tree at `root`; paths as seen from there."""
    package = root / "src" / "outlive"
    names = public_names(package)
    for pattern in PAGES:
        for path in sorted(root.glob(pattern)):
            yield from markdown_texts(path.relative_to(root), path.read_text(encoding="utf-8"))
    for path in sorted(package.rglob("*.py")):
        source, short = path.read_text(encoding="utf-8"), path.relative_to(root)
        if path.name not in SILENT:
            yield from literal_texts(short, source)
        if re.fullmatch(r"[a-z]\d{3}_\w+\.py", path.name):
            yield from page_texts(short, source)
        if path.parent.name == "verbs":
            yield from public_docstrings(short, source, names)
    for path in sorted((package / "diagnosis" / "messages").glob("*.toml")):
        yield from table_texts(path.relative_to(root), path.read_text(encoding="utf-8"))


def misspelt(root: Path, house: House) -> list[str]:
    """What codespell finds in the same files."""
    files = (*PAGES, "src/outlive/**/*.py")
    paths = sorted({str(path.relative_to(root)) for pattern in files for path in root.glob(pattern)})
    command = [sys.executable, "-m", "codespell_lib", "--ignore-words-list", ",".join(house.spelling)]
    # Examples in tables are cut off with dots.
    command += ["--ignore-regex", r"\w+\.\.\.", *paths]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 65):
        return [f"codespell failed: {done.stderr.strip()[-300:]}"]
    return done.stdout.splitlines()


def main() -> int:
    """Print what is wrong; 1 if anything is."""
    parser = argparse.ArgumentParser(description="Check the prose of the project.")
    parser.add_argument("--list", action="store_true", help="print the texts instead of checking them")
    args = parser.parse_args()
    if args.list:
        for text in texts_of(ROOT):
            print(text.problem(" ".join(text.words.split())))
        return 0
    house = read_house()
    problems = [*problems_in(texts_of(ROOT), house), *misspelt(ROOT, house)]
    for problem in problems:
        print(problem)
    if problems:
        print(
            f"{len(problems)} problems in the prose; tools/prose_words.toml says what to write",
            file=sys.stderr,
        )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
