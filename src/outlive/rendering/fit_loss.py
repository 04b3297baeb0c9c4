"""Whether what fits is still worth having: a small file that answers otherwise than the original is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from outlive.fitting.nouns import Fit

# Of all that can be lost; by a metric, of the original's score.
_ALL, _MUCH = 0.9, 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Caution:
    """What to say of a loss, and how loud."""

    words: str
    tone: Literal["warn", "bad"]


def caution(fit: Fit) -> Caution | None:
    """What is to be said of the loss of what was chosen; None if it is small, or not known."""
    share = _share(fit)
    if share is None or share < _MUCH:
        return None
    how = "no longer" if share >= _ALL else "far from"
    words = f"its outputs are {how} the original's"
    if fit.is_indicative:  # on random inputs a model may have no opinion to lose
        return Caution(words=f"on random inputs {words}: give samples to know", tone="warn")
    return Caution(words=words, tone="bad" if share >= _ALL else "warn")


def _share(fit: Fit) -> float | None:
    if fit.chosen is None or fit.chosen.loss is None:
        return None
    if fit.original_score is None:
        return fit.chosen.loss
    return fit.chosen.loss / fit.original_score if fit.original_score > 0 else None
