"""What fits and answers otherwise than the original is not shown in green; the verdict itself stays."""

from __future__ import annotations

from typing import Any

import pytest

from outlive.arena.budget import Budget
from outlive.fitting import Candidate, Fit, Outcome
from outlive.rendering.pages.fit import fit_verdict, page
from tests.rendering.stage import drawn

BUDGET = Budget(kind="ram", title="the RAM granted", ram_bytes=1000, source="--ram")


def fit(loss: float | None, **more: Any) -> Fit:
    candidate = Candidate(recipe="static-int8")
    chosen = Outcome(candidate=candidate, verdict="fits", peak_bytes=10, file_bytes=10, loss=loss)
    return Fit(chosen=chosen, candidates=(chosen,), budget=BUDGET, source="m.tflite", **more)


@pytest.mark.parametrize(
    ("made", "tone"),
    [
        (fit(0.01), "good"),
        (fit(None), "good"),
        (fit(0.6), "warn"),
        (fit(1.0), "bad"),
        (fit(1.0, is_indicative=True), "warn"),
        (fit(0.05, original_score=0.9), "good"),
        (fit(0.85, original_score=0.9), "bad"),
        (fit(20.0, original_score=100.0), "good"),
        (fit(1.0, original_score=-3.0), "good"),
    ],
    ids=[
        "little",
        "unknown",
        "much",
        "all",
        "random",
        "metric",
        "metric gone",
        "large scores",
        "other metric",
    ],
)
def test_a_loss_is_told_as_loud_as_it_is(made: Fit, tone: str) -> None:
    warning = made.caution
    verdict = fit_verdict(made)
    assert verdict.tone == tone
    assert verdict.word.startswith("fits: ")
    told = drawn(made)
    assert told.removeprefix("✓ ").removeprefix("! ").removeprefix("✗ ").startswith("m.tflite  fits: ")
    if warning is None:
        assert tone == "good"
        assert "original's" not in told
    else:
        assert warning.words in verdict.word
        assert f"but {warning.words}\n" in told
        tiles = {tile.label: tile.tone for tile in page(made).tiles}
        assert tiles["loss"] == tone


def test_what_it_changes_is_said_in_plain_words() -> None:
    told = drawn(fit(0.0))
    (line,) = [line for line in told.splitlines() if line.startswith("  changes")]
    assert line.split(maxsplit=1)[1] == "the model and its results"
    assert "changes-" not in told
