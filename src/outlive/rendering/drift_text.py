"""A comparison for people: the outputs, then the layers where error is born, the worst first."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from outlive.names import safe
from outlive.quant.nouns import Drift, OutputDrift, TensorDrift
from outlive.rendering.drift_outcome import decibels_words, outcome_of, strange_words
from outlive.rendering.finding_text import rich_finding
from outlive.rendering.model_lists import listing
from outlive.units import format_bytes, plural

if TYPE_CHECKING:
    from rich.console import RenderableType

_NAME = 44
_BAR = 24
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def drift_text(drift: Drift, reference: str, candidate: str, top: int = 15) -> Iterator[RenderableType]:
    """The parts of the report, top to bottom."""
    from rich.text import Text

    sizes = f"{format_bytes(drift.reference_bytes)} and {format_bytes(drift.candidate_bytes)}"
    yield Text.assemble(
        (safe(candidate, 100), "bold"), " against ", (safe(reference, 100), "bold"), f", {sizes}"
    )
    counted = f"{plural(len(drift.tensors), 'pair')} of tensors, {plural(drift.samples, 'sample')}"
    turns = "" if drift.turns.count == 1 else f", in {drift.turns.count} turns"
    yield Text(f"{counted}{turns}", style="dim")
    for note in drift.notes:
        yield Text(f"note: {safe(note, 300)}", style="yellow")
    yield Text("\noutputs", style="bold")
    yield _outputs(drift.outputs)
    outcome = outcome_of(drift)
    if outcome.tone == "bad":
        yield Text(outcome.words, style="bold red")
    for row in drift.outputs:
        if row.is_strange:
            yield Text(f"output {safe(row.name, _NAME)!r}: {strange_words(row)}", style="yellow")
        if row.why:
            yield Text(f"output {safe(row.name, _NAME)!r} was not compared: {row.why}", style="yellow")
    yield from _layers(drift, top)
    yield from _unpaired(drift)
    for finding in drift.findings:
        yield rich_finding(finding)


def _outputs(rows: tuple[OutputDrift, ...]) -> RenderableType:
    users = list(dict.fromkeys(name for row in rows for name in row.user_metrics))
    table = listing("output", "SQNR", "max error", "cosine", "same winner", *users)
    for row in rows:
        found = row.metrics
        numbers = ("", "", "") if found is None else (
            decibels_words(found.sqnr_db), _number(found.max_abs_error, ".4g"), _number(found.cosine, ".6f")
        )  # fmt: skip
        agreement = "" if row.argmax_agreement is None else f"{row.argmax_agreement:.1%}"
        own = (f"{row.user_metrics.get(name, math.nan):.5g}" for name in users)
        table.add_row(safe(row.name, _NAME), *numbers, agreement, *own)
    return table


def _layers(drift: Drift, top: int) -> Iterator[RenderableType]:
    from rich.text import Text

    worst = drift.worst(top)
    if not worst:
        yield Text("\nno error is born in any operator that could be run alone")
        return
    yield Text("\nwhere error is born, in steps of a grid that would just hold the values", style="bold")
    table = listing("op", "type", "layer", "steps", "", "born here", "with what arrives", "cut off", "used")
    most = worst[0].blame
    for row in worst:
        table.add_row(*_layer(row, most))
    yield table
    left = sum(1 for row in drift.tensors if row.born_here is not None and row.blame > 0) - len(worst)
    if left > 0:
        yield Text(f"and {plural(left, 'layer')} with less", style="dim")
    reasons = {row.alone for row in drift.tensors if row.alone and row.born_here is None}
    count = sum(1 for row in drift.tensors if row.alone and row.born_here is None)
    if count:
        told = safe("; ".join(sorted(reasons)), 200)
        yield Text(f"{plural(count, 'operator')} could not be run alone: {told}", style="dim")


def _layer(row: TensorDrift, most: float) -> tuple[str, ...]:
    here, total = row.born_here, row.metrics
    assert here is not None
    cut = "" if not here.saturated_share else f"{here.saturated_share:.1%}"
    used = "" if total is None or total.range_used is None else f"{total.range_used:.0%}"
    return (
        "" if row.op is None else str(row.op),
        safe(row.op_type, 24),
        safe(row.name, _NAME),
        f"{row.blame:.2f}",
        bar(row.blame / most),
        decibels_words(here.sqnr_db),
        "" if total is None else decibels_words(total.sqnr_db),
        cut,
        used,
    )


def bar(share: float) -> str:
    """A bar of blocks, as long as the share says."""
    eighths = round(max(0.0, min(share, 1.0)) * _BAR * 8)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _number(value: float, how: str) -> str:
    return "" if math.isnan(value) else format(value, how)


def _unpaired(drift: Drift) -> Iterator[RenderableType]:
    from rich.text import Text

    if not drift.unpaired:
        return
    for side in ("candidate", "reference"):
        rows = [row for row in drift.unpaired if row.model == side]
        if rows:
            named = ", ".join(f"{row.op_type} {safe(row.name, _NAME)!r}" for row in rows[:5])
            more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
            yield Text(f"without a partner in the {side}: {named}{more}", style="yellow")
