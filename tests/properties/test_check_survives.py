"""Nothing that a file says makes a check fail, or what is told about it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from outlive.fitting.checking import check_reading, make_order
from outlive.model import Model, read_source
from outlive.report.annotations import workflow_commands
from outlive.report.check_json import check_json
from outlive.report.check_text import check_text
from outlive.report.document import dump
from outlive.report.sarif import sarif_log
from tests.properties.mutations import Mutator
from tests.properties.specimens import specimens

MUTANTS, BATCH = 600, 100


def values(model: Model | None) -> list[np.ndarray[tuple[int], np.dtype[np.int64]]] | None:
    """Values for every input: the extremes, and what nothing should divide by."""
    if model is None or len(model.inputs) > 8:
        return None
    return [np.array([-(2**63), -1, 0, 2**63 - 1]) for _ in model.inputs]


@pytest.mark.parametrize("start", range(0, MUTANTS, BATCH))
def test_a_damaged_model_is_checked_and_told(start: int) -> None:
    mutator = Mutator(specimens())
    for seed in range(start, start + BATCH):
        mutant = mutator.mutant(seed)
        reading = read_source(mutant.data)
        order = make_order(inputs=values(reading.model))
        try:
            checked = check_reading(reading, order)
            dump(check_json(checked))
            dump(sarif_log([checked], order.rules, Path.cwd()))
            assert not [line for line in workflow_commands([checked], Path.cwd()) if "\n" in line]
            list(check_text([checked]))
        except Exception as error:
            pytest.fail(f"mutant {seed}: {', '.join(mutant.how)}: {error!r}")
        failed = [item for item in checked.judgement.not_checked if "failed" in item.reason]
        assert not failed, f"mutant {seed}: {', '.join(mutant.how)}: {failed}"
