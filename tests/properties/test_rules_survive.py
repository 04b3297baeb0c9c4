"""No rule fails on a damaged model, whatever operators and options are in it."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import outlive
from tests.properties.mutations import Mutator
from tests.repetition import repeats, rounds

pytestmark = repeats

RULE_CASES = Path(__file__).parents[1] / "rules"
MUTANTS, BATCH = rounds(750, soak=10_000), 250


@pytest.fixture(scope="module")
def mutator(tmp_path_factory: pytest.TempPathFactory) -> Mutator:
    """Damages the cases of the rules on operators and quantization: small, and of many kinds."""
    folder = tmp_path_factory.mktemp("cases")
    names = [f"{path.parent.name}.{path.stem}" for path in sorted(RULE_CASES.glob("[oq]1*/*.py"))]
    cases = (importlib.import_module(f"tests.rules.{name}") for name in names)
    # Some rules are about calls and not about files.
    return Mutator([Path(case.source(folder)).read_bytes() for case in cases if hasattr(case, "source")])


@pytest.mark.parametrize("start", range(0, MUTANTS, BATCH))
def test_no_rule_fails_on_a_damaged_operator(mutator: Mutator, start: int) -> None:
    for seed in range(start, start + BATCH):
        mutant = mutator.mutant(seed)
        failed = [item for item in outlive.check(mutant.data).not_checked if "failed" in item.reason]
        assert failed == [], f"mutant {seed}: {', '.join(mutant.how)}"


def test_rules_have_something_to_say_about_the_damage(mutator: Mutator) -> None:
    """Models that no rule looks at would make the test above pass for nothing."""
    codes = {finding.code for seed in range(400) for finding in outlive.check(mutator.mutant(seed).data)}
    assert len([code for code in codes if code[0] in "OQ"]) >= 15
