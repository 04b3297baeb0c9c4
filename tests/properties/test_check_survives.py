"""Nothing that a file says makes a check fail, or what is told about it."""

from __future__ import annotations

import pytest

from tests.properties.judging import check_and_say
from tests.properties.mutations import Mutator
from tests.properties.specimens import specimens
from tests.repetition import repeats, rounds

pytestmark = repeats
MUTANTS, BATCH = rounds(200, soak=5_000), 100


@pytest.mark.parametrize("start", range(0, MUTANTS, BATCH))
def test_a_damaged_model_is_checked_and_told(start: int) -> None:
    mutator = Mutator(specimens())
    for seed in range(start, start + BATCH):
        mutant = mutator.mutant(seed)
        try:
            failed = check_and_say(mutant.data)
        except Exception as error:
            pytest.fail(f"mutant {seed}: {', '.join(mutant.how)}: {error!r}")
        assert not failed, f"mutant {seed}: {', '.join(mutant.how)}: {failed}"
