"""Rules on flights, calls, absences, plans, verdicts and inputs: each sees its bad cases and tells them.

A case is a module `tests/rules/<code>/bad*.py` or `good*.py` with `fact(tmp_path)`, which makes the fact, or
with `facts(tmp_path)`, which makes all facts of a rule that needs several. The texts are kept as those of
`test_rules.py` are.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from outlive.rendering.finding_text import plain_finding
from outlive.rules import Judgement, judge
from outlive.rules.catalogue import load_rules
from tests.rules.expected import case_names, expected_text, hold_pairs

ON_FACTS = [rule for rule in load_rules() if not set(rule.facts) <= {"file", "model"}]


def cases(kind: str) -> list[Any]:
    return [
        pytest.param(rule.facts[0], rule.code, case, id=f"{rule.code}-{case}")
        for rule in ON_FACTS
        for case in case_names(rule.code, kind)
    ]


def judged(kind: str, code: str, case: str, tmp_path: Path) -> Judgement:
    """What all rules on this kind of fact say about a case."""
    module = importlib.import_module(f"tests.rules.{code.lower()}.{case}")
    facts = module.facts(tmp_path) if hasattr(module, "facts") else {kind: module.fact(tmp_path)}
    return judge(facts, [rule for rule in load_rules() if set(rule.facts) == set(facts)])


@pytest.mark.parametrize(("kind", "code", "case"), cases("bad"))
def test_a_bad_case_has_one_finding_told_as_expected(kind: str, code: str, case: str, tmp_path: Path) -> None:
    judgement = judged(kind, code, case, tmp_path)
    assert [finding.code for finding in judgement] == [code]
    text = plain_finding(judgement.findings[0], detail=1)
    assert text == expected_text(code, case, text)


@pytest.mark.parametrize(("kind", "code", "case"), cases("good"))
def test_a_good_case_is_left_to_others(kind: str, code: str, case: str, tmp_path: Path) -> None:
    assert code not in [finding.code for finding in judged(kind, code, case, tmp_path)]


@pytest.mark.parametrize(("kind", "code", "case"), [*cases("bad"), *cases("good")])
def test_no_rule_fails_on_any_case(kind: str, code: str, case: str, tmp_path: Path) -> None:
    judgement = judged(kind, code, case, tmp_path)
    assert [item for item in judgement.not_checked if "failed" in item.reason] == []


@pytest.mark.parametrize("code", [rule.code for rule in ON_FACTS])
def test_every_bad_case_has_its_text_and_every_text_its_case(code: str) -> None:
    hold_pairs(code)


def test_every_rule_on_such_facts_is_run_here() -> None:
    assert {rule.code[0] for rule in ON_FACTS} >= {"D", "E", "I", "M", "O", "Q", "S"}
