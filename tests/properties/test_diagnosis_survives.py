"""Nothing that a file says makes a diagnosis fail: its judgements on many mutants, all of it on a few."""

from __future__ import annotations

import pytest

from outlive.diagnosis.diagnosis_record import Diagnosis
from tests.properties.judging import diagnose_and_say, judge_ends
from tests.properties.mutations import Mutator
from tests.properties.specimens import specimens
from tests.repetition import repeats, rounds

pytestmark = repeats
MUTANTS, BATCH = rounds(100, soak=2_000), 100
FLOWN = 5


@pytest.mark.parametrize("start", range(0, MUTANTS, BATCH))
def test_every_end_of_a_damaged_model_is_judged(start: int) -> None:
    mutator = Mutator(specimens())
    for seed in range(start, start + BATCH):
        mutant = mutator.mutant(seed)
        try:
            judge_ends(mutant.data, seed)
        except Exception as error:
            pytest.fail(f"mutant {seed}: {', '.join(mutant.how)}: {error!r}")


def test_damaged_models_are_diagnosed_for_real() -> None:
    mutator, told = Mutator(specimens()), list[Diagnosis]()
    for seed in range(FLOWN):
        mutant = mutator.mutant(seed)
        try:
            told.append(diagnose_and_say(mutant.data))
        except Exception as error:
            pytest.fail(f"mutant {seed}: {', '.join(mutant.how)}: {error!r}")
    assert any(diagnosis.verdict is not None for diagnosis in told)
