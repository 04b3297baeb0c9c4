"""The card of a search: what fits and what it costs, then every candidate."""

from __future__ import annotations

from typing import Any

from outlive.jupyter.cards import BAD, GOOD, ODD, Card


def fit_card(fit: Any) -> Card:
    """What would fit."""
    from outlive.rendering.fit_text import fit_text

    warning = fit.caution
    tone = BAD if fit.chosen is None else GOOD if fit.chosen.verdict == "fits" else ODD
    if warning is not None:
        tone = BAD if warning.tone == "bad" else ODD
    return Card(label="fit", parts=lambda: fit_text(fit), tone=tone, details=(("load it", fit.snippet),))
