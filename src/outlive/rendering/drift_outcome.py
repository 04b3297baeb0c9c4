"""What a comparison came to at the outputs, in the same words wherever it is said."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from outlive.quant.nouns import Drift, OutputDrift
from outlive.units import plural

# From here on the outputs are as good as 8 bits make them.
_GOOD_DB = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """`name` is for programs, `words` are for people."""

    name: Literal["equal", "differ", "not finite", "not compared"]
    words: str
    tone: Literal["good", "warn", "bad"]


def outcome_of(drift: Drift) -> Outcome:
    """What `outputs_are`, in words."""
    rows, name = drift.outputs, drift.outputs_are
    if name == "not finite":
        strange = [row for row in rows if row.is_strange]
        return Outcome(name=name, words=_not_finite(strange, len(rows)), tone="bad")
    if name == "not compared":
        left = [row for row in rows if row.metrics is None or row.why]
        words = f"{_which(len(left), len(rows))} could not be compared" if rows else "there are no outputs"
        return Outcome(name=name, words=words, tone="bad")
    if name == "equal":
        return Outcome(name=name, words="the outputs are equal", tone="good")
    decibels = min(row.metrics.sqnr_db for row in rows if row.metrics is not None)
    if decibels == -math.inf:
        return Outcome(name=name, words="an output that should be all zeros is not", tone="bad")
    return Outcome(
        name=name,
        words=f"{decibels:.1f} dB of signal to noise at the outputs",
        tone="good" if decibels >= _GOOD_DB else "warn",
    )


def strange_words(row: OutputDrift) -> str:
    """How many values of an output are NaN or infinite."""
    found = row.metrics
    if found is None or not found.not_finite:
        return "its error is not finite"
    return f"{found.not_finite:,} of {found.not_finite + found.num_elements:,} values are not finite"


def decibels_words(value: float) -> str:
    """Signal to noise in a table."""
    if math.isnan(value):
        return "not finite"
    if math.isinf(value):
        return "exact" if value > 0 else "no signal"
    return f"{value:.1f} dB"


def _not_finite(strange: list[OutputDrift], outputs: int) -> str:
    is_all = all(row.metrics is None or not row.metrics.num_elements for row in strange)
    one, more = ("is", "are") if is_all else ("has values that are", "have values that are")
    return f"{_which(len(strange), outputs)} {one if len(strange) == 1 else more} not finite"


def _which(count: int, outputs: int) -> str:
    if count == outputs:
        return "the output" if outputs == 1 else "the outputs"
    return f"{count} of {plural(outputs, 'output')}"
