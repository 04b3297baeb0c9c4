"""The card of a search: what fits and what it costs, then every candidate."""

from __future__ import annotations

from typing import Any

from outlive.notebook.cards import BAD, GOOD, ODD, Card


def fit_card(fit: Any) -> Card:
    """What would fit."""
    from outlive.report.fit_text import fit_text

    tone = BAD if fit.chosen is None else GOOD if fit.chosen.verdict == "fits" else ODD
    return Card(label="fit", parts=lambda: fit_text(fit), tone=tone, details=(("load it", fit.snippet),))
