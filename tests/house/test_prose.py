"""The check of prose finds what is planted, and nothing in the tree."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from tools.prose_check import (
    ROOT,
    House,
    Text,
    literal_texts,
    markdown_texts,
    misspelt,
    page_texts,
    problems_in,
    public_docstrings,
    read_house,
    table_texts,
    texts_of,
)

HERE = Path("planted.md")
HOUSE = read_house()


def found(texts: Iterable[Text]) -> list[str]:
    return list(problems_in(texts, HOUSE))


def test_the_tree_is_clean() -> None:
    assert found(texts_of(ROOT)) == []


def test_the_tree_has_texts_of_every_kind() -> None:
    paths = {str(text.path) for text in texts_of(ROOT)}
    for part in (
        "README.md",
        "docs/",
        "src/outlive/rules/",
        "src/outlive/cli/",
        "src/outlive/rendering/pages/",
    ):
        assert any(path.startswith(part) for path in paths), part
    assert any(path.endswith(".toml") for path in paths)


@pytest.mark.parametrize("banned", HOUSE.banned)
def test_every_banned_word_is_a_pattern_with_an_answer(banned: str) -> None:
    house = House(banned={banned: "x"}, most_words=9, names=frozenset(), headings=frozenset())
    assert list(problems_in([Text(HERE, 1, "Plain words.")], house)) == []
    assert HOUSE.banned[banned] or banned in ("homely", "to be sure")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Give it to somebody who can mend it.", "'mend'"),
        ("What the runtime refuses is in the log.", "begins with 'What'"),
        (" ".join(["word"] * 37) + ".", "37 words in a row"),
        ("# Survive a Crash", "heading not in sentence case"),
        ("- It hurts if you do.", "'It hurts'"),
    ],
)
def test_a_planted_fault_is_found(line: str, words: str) -> None:
    problems = found(markdown_texts(HERE, f"Fine.\n\n{line}\n"))
    assert len(problems) == 1
    assert words in problems[0]
    assert problems[0].startswith("planted.md:3: ")


@pytest.mark.parametrize(
    "text",
    [
        "What does it need?\n",
        "```\nnobody reads code\n```\n",
        "`nobody` is a name of this system.\n",
        "## Models on a Raspberry Pi\n",
        "    nobody\n",
    ],
)
def test_questions_code_and_names_are_fine(text: str) -> None:
    assert found(markdown_texts(HERE, text)) == []


def test_string_literals_are_read_and_docstrings_and_code_are_not() -> None:
    source = '"""Nobody reads this one."""\nSAID = f"the {x} of it is for nobody at all"\nNAME = "nobody"\n'
    (problem,) = found(literal_texts(HERE, source))
    assert problem.startswith("planted.md:2: 'nobody'")


def test_pages_of_rules_tables_of_messages_and_public_docstrings_are_read() -> None:
    page = '"""Headline\n\nWhat it checks\n    What is here.\n\nLimits\n    Nobody knows.\n"""\n'
    assert [problem.split(": ")[1][:6] for problem in found(page_texts(HERE, page))] == ["begins", "'Nobod"]
    table = '[[message]]\nmatch = "nobody"\nmeans = "nobody has set it"\n'
    assert len(found(table_texts(HERE, table))) == 1
    source = 'def plan():\n    """Nobody plans."""\ndef other():\n    """Nobody sees."""\n'
    assert len(found(public_docstrings(HERE, source, frozenset({"plan"})))) == 1


def test_codespell_finds_a_misspelling(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("This is teh end of recieved wo...\n", encoding="utf-8")
    lines = misspelt(tmp_path, HOUSE)
    assert len(lines) == 2
    assert all(line.startswith("README.md:1: ") or "./README.md:1" in line for line in lines)
