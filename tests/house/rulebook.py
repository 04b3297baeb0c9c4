"""Every rule is one file, one test folder, and explains itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from tests.house.sizes import RULE_FILES

SECTIONS = ("What it checks", "Why it matters", "What to do", "Limits")
HEADLINE_LENGTH = 90

_TEST_FOLDER = re.compile(r"[a-z]\d{3}")


class Rule(Protocol):
    """What the checks need of a rule in the catalogue."""

    @property
    def code(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def doc(self) -> str: ...


def catalogue_gaps(package: Path, rules: Iterable[Rule]) -> list[str]:
    """Rule files not in the catalogue, rules without a file of their name, codes and names used twice."""
    rules = tuple(rules)
    in_files = {_identity(path): path for path in sorted(package.glob(RULE_FILES))}
    in_catalogue = {(rule.code, rule.name) for rule in rules}
    problems = [f"{path}: not in the catalogue" for key, path in in_files.items() if key not in in_catalogue]
    for code, name in sorted(in_catalogue - in_files.keys()):
        problems.append(f"{code} {name}: no file rules/*/{code.lower()}_{name.replace('-', '_')}.py")
    for what, words in (("code", [rule.code for rule in rules]), ("name", [rule.name for rule in rules])):
        doubles = [word for word, count in Counter(words).items() if count > 1]
        problems += [f"{word}: this {what} is used by more than one rule" for word in sorted(doubles)]
    return problems


def _identity(path: Path) -> tuple[str, str]:
    """Code and name as the file name says them: f104_git_lfs_pointer.py is F104, git-lfs-pointer."""
    code, _, name = path.stem.partition("_")
    return code.upper(), name.replace("_", "-")


def bad_explanations(rules: Iterable[Rule]) -> list[str]:
    """Rules whose headline or explanation is not as the house wants it."""
    return [
        f"{rule.code}: {fault}" for rule in rules for fault in (*_headline_faults(rule), *_doc_faults(rule))
    ]


def _headline_faults(rule: Rule) -> Iterator[str]:
    headline = rule.summary
    if not headline.strip():
        yield "there is no headline"
        return
    first = headline.split()[0]
    if first[0].islower() and not _may_be_lower(first):
        yield f"the headline starts with a small letter: {headline}"
    if headline.endswith("."):
        yield f"the headline ends with a full stop: {headline}"
    if len(headline) > HEADLINE_LENGTH:
        yield f"the headline has {len(headline)} characters, more than {HEADLINE_LENGTH}: {headline}"
    if " or " in headline:
        yield f"the headline says 'or': {headline}"


def _may_be_lower(word: str) -> bool:
    """Whether a word is a name that is written so (outlive, ai-edge-quantizer)."""
    return "-" in word or word == "outlive"


def _doc_faults(rule: Rule) -> Iterator[str]:
    lines = [line.strip().strip("#*: ") for line in rule.doc.strip().splitlines()]
    if not lines or lines[0] != rule.summary.strip().strip("#*: "):
        yield "the first line of the docstring is not the headline"
    places = [lines.index(section) if section in lines else -1 for section in SECTIONS]
    for section, place in zip(SECTIONS, places, strict=True):
        if place < 0:
            yield f"the docstring has no section '{section}' on a line of its own"
    if -1 not in places and places != sorted(places):
        yield f"the sections are not in the order {', '.join(SECTIONS)}"


def untested_rules(rules: Iterable[Rule], folder: Path) -> list[str]:
    """Rules without a bad case, a good case and the expected text, and test folders without a rule."""
    codes = {rule.code.lower() for rule in rules}
    problems = []
    for code in sorted(codes):
        for what in ("bad*.py", "good*.py", "expected.txt"):
            if not any((folder / code).glob(what)):
                problems.append(f"{folder / code}: there is no {what}")
    found = {path.name for path in folder.glob("*") if path.is_dir() and _TEST_FOLDER.fullmatch(path.name)}
    return problems + [f"{folder / code}: tests a rule that is not there" for code in sorted(found - codes)]
