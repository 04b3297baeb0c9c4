"""Rules that are not registered, not explained or not tested are found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.house.conftest import Plant
from tests.house.rulebook import bad_explanations, catalogue_gaps, untested_rules

SECTIONS = (
    "What it checks\n    The file.\n\nWhy it matters\n    x\n\nWhat to do\n    x\n\nLimits\n    None.\n"
)
HEADLINE = "The file is a Git LFS pointer"
FILE = "rules/file/f104_git_lfs_pointer.py"


@dataclass(frozen=True)
class PlantedRule:
    """A rule as the catalogue holds it."""

    code: str = "F104"
    name: str = "git-lfs-pointer"
    summary: str = HEADLINE
    doc: str = f"{HEADLINE}\n\n{SECTIONS}"


GOOD = PlantedRule()


def headlined(headline: str) -> PlantedRule:
    return PlantedRule(summary=headline, doc=f"{headline}\n\n{SECTIONS}")


def test_a_complete_catalogue_is_fine(plant: Plant) -> None:
    package = plant(
        {FILE: "", "rules/file/__init__.py": "", "rules/file/wording.py": "", "rules/judgement.py": ""}
    )
    assert catalogue_gaps(package, [GOOD]) == []


def test_a_rule_file_not_in_the_catalogue_is_found(plant: Plant) -> None:
    (problem,) = catalogue_gaps(plant({FILE: "", "rules/memory/m201_dead_op.py": ""}), [GOOD])
    assert problem.endswith("m201_dead_op.py: not in the catalogue")


@pytest.mark.parametrize("rule", [replace(GOOD, code="F105"), replace(GOOD, name="lfs-pointer")])
def test_a_rule_that_does_not_match_its_file_is_found(plant: Plant, rule: PlantedRule) -> None:
    unlisted, without_file = catalogue_gaps(plant({FILE: ""}), [rule])
    assert "not in the catalogue" in unlisted
    assert f"{rule.code} {rule.name}: no file rules/*/" in without_file


def test_a_code_or_name_used_twice_is_found(plant: Plant) -> None:
    package = plant({FILE: "", "rules/file/f104_html.py": "", "rules/file/f105_git_lfs_pointer.py": ""})
    problems = catalogue_gaps(package, [GOOD, replace(GOOD, name="html"), replace(GOOD, code="F105")])
    assert problems == [
        "F104: this code is used by more than one rule",
        "git-lfs-pointer: this name is used by more than one rule",
    ]


@pytest.mark.parametrize(
    "headline",
    [
        HEADLINE,
        "HTML was saved as a model",
        "LiteRT's schema has no such type",
        "Git LFS left a pointer",
        "ai-edge-quantizer refuses the model",
        "X" * 90,
    ],
)
def test_a_good_headline_is_fine(headline: str) -> None:
    assert bad_explanations([headlined(headline)]) == []


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (headlined("the file is empty"), "starts with a small letter"),
        (headlined("The file is empty."), "ends with a full stop"),
        (headlined("X" * 91), "has 91 characters"),
        (headlined("The file is empty or cut short"), "says 'or'"),
        (replace(GOOD, summary=""), "there is no headline"),
        (replace(GOOD, summary="Another headline"), "first line of the docstring is not the headline"),
        (replace(GOOD, doc=GOOD.doc.replace("Limits", "Bounds")), "no section 'Limits'"),
        (
            replace(GOOD, doc=GOOD.doc.replace("Why it matters", "See Why it matters")),
            "no section 'Why it matters'",
        ),
        (replace(GOOD, doc=f"{HEADLINE}\n\nLimits\n\n{SECTIONS}"), "not in the order"),
    ],
)
def test_a_bad_explanation_is_found(rule: PlantedRule, words: str) -> None:
    problems = bad_explanations([rule])
    assert words in problems[0]
    assert problems[0].startswith("F104: ")


def test_a_tested_rule_is_fine(tmp_path: Path) -> None:
    _write_cases(tmp_path / "f104", "bad.py", "bad_crlf.py", "good.py", "expected.txt")
    (tmp_path / "__pycache__").mkdir()
    assert untested_rules([GOOD], tmp_path) == []


@pytest.mark.parametrize(
    ("names", "missing"),
    [
        (("good.py", "expected.txt"), "bad*.py"),
        (("bad.py", "expected.txt"), "good*.py"),
        (("bad.py", "good.py"), "expected.txt"),
    ],
)
def test_a_missing_case_is_found(tmp_path: Path, names: tuple[str, ...], missing: str) -> None:
    _write_cases(tmp_path / "f104", *names)
    (problem,) = untested_rules([GOOD], tmp_path)
    assert problem.endswith(f"f104: there is no {missing}")


def test_cases_of_a_rule_that_is_gone_are_found(tmp_path: Path) -> None:
    _write_cases(tmp_path / "f104", "bad.py")
    (problem,) = untested_rules([], tmp_path)
    assert problem.endswith("f104: tests a rule that is not there")


def _write_cases(folder: Path, *names: str) -> None:
    folder.mkdir()
    for name in names:
        (folder / name).write_text("", encoding="utf-8")
