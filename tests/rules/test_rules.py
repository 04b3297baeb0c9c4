"""Every rule sees its bad cases, says what is expected, and leaves its good cases alone.

A case is a module `tests/rules/<code>/bad*.py` or `good*.py` with `source(tmp_path)`, which makes the file.
What a user reads for `bad.py` is in `expected.txt`, for `bad_second.py` in `expected_second.txt`. After a
change of words, `OUTLIVE_REWRITE=1 pytest tests/rules` writes the texts anew; read them before a commit.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import pytest

import outlive
from outlive.model import read_source
from outlive.rendering.finding_text import plain_finding
from outlive.rules import Judgement
from outlive.rules.catalogue import load_rules
from outlive.rules.judgement import assess
from outlive.surgery import write
from tests.rules.expected import case_names, expected_text, hold_pairs
from tests.rules.small import dense

# Rules on runs and inputs need facts that no file gives; their cases are run elsewhere.
ON_FILES = [rule for rule in load_rules() if set(rule.facts) <= {"file", "model"}]


def cases(kind: str) -> list[Any]:
    return [
        pytest.param(rule.code, case, id=f"{rule.code}-{case}")
        for rule in ON_FILES
        for case in case_names(rule.code, kind)
    ]


def judged(code: str, case: str, tmp_path: Path) -> tuple[Judgement, str]:
    """What the rules say about a case, and its path, if it has one."""
    made = importlib.import_module(f"tests.rules.{code.lower()}.{case}").source(tmp_path)
    if isinstance(made, (str, os.PathLike)) and os.path.isdir(made):  # check looks at the models in it
        return assess(read_source(made)), os.fspath(made)
    return outlive.check(made), os.fspath(made) if isinstance(made, (str, os.PathLike)) else ""


def told(judgement: Judgement, path: str, folder: Path) -> str:
    """All that is said, with stable names for what lies in the temporary folder."""
    text = "\n\n".join(plain_finding(finding, detail=1) for finding in judgement.findings)
    for name, stable in ((path.replace("\0", "\\x00"), "FILE"), (str(folder), "FOLDER")):
        text = text.replace(name, stable) if name else text
    return text


@pytest.mark.parametrize(("code", "case"), cases("bad"))
def test_a_bad_case_is_seen_once_and_told_as_expected(code: str, case: str, tmp_path: Path) -> None:
    judgement, path = judged(code, case, tmp_path)
    assert [finding.code for finding in judgement] == [code]
    text = told(judgement, path, tmp_path)
    assert text == expected_text(code, case, text)


@pytest.mark.parametrize(("code", "case"), cases("good"))
def test_a_good_case_is_left_alone(code: str, case: str, tmp_path: Path) -> None:
    judgement, _ = judged(code, case, tmp_path)
    assert code not in [finding.code for finding in judgement]


@pytest.mark.parametrize(("code", "case"), [*cases("bad"), *cases("good")])
def test_no_rule_fails_on_any_case(code: str, case: str, tmp_path: Path) -> None:
    judgement, _ = judged(code, case, tmp_path)
    assert [item for item in judgement.not_checked if "failed" in item.reason] == []


def test_a_file_cut_anywhere_has_one_finding() -> None:
    data = write(dense(description="cut anywhere"))
    told = {end: [finding.code for finding in outlive.check(data[:end])] for end in range(len(data))}
    assert told.pop(0) == ["F102"]
    # A byte or two of the header may well be printable, and so a text.
    right = {end: [["F109"], ["F107"]] if end < 8 else [["F110"]] for end in told}
    assert {end: codes for end, codes in told.items() if codes not in right[end]} == {}


def test_a_broken_model_is_not_called_wasteful() -> None:
    """The weights look unused only because the operator that reads them is broken."""
    broken = write(dense(op={"inputs": [0, 99, -1]}))
    assert [finding.code for finding in outlive.check(broken)] == ["F112"]


@pytest.mark.parametrize("code", [rule.code for rule in ON_FILES])
def test_every_bad_case_has_its_text_and_every_text_its_case(code: str) -> None:
    hold_pairs(code)
