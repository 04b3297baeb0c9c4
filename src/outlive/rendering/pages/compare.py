"""A comparison as blocks: where error is born, what arrives, the outputs, every tensor."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from outlive.model import Model
from outlive.names import safe
from outlive.quant.nouns import Drift, TensorDrift
from outlive.rendering.drift_outcome import outcome_of, strange_words
from outlive.rendering.page import (
    Block,
    Chart,
    Column,
    Listing,
    Page,
    PageVerdict,
    Section,
    Table,
    Tile,
    findings_sections,
    make_page,
)
from outlive.rendering.pages.read import model_section, operators_section, what_is_known
from outlive.units import format_bytes, format_shape, plural

_MOST_DECIBELS = 120.0


def drift_verdict(drift: Drift) -> PageVerdict:
    """How good the outputs are, and the worst layer."""
    bad = [item for item in drift.findings if item.severity.value == "error"]
    outcome = outcome_of(drift)
    said = [f"{name[0].upper()}{name[1:]}." for name in _explained(drift)]
    agreements = [row.argmax_agreement for row in drift.outputs if row.argmax_agreement is not None]
    if agreements:
        said.append(f"The same winner in {min(agreements):.1%} of the samples.")
    worst = drift.worst(1)
    if worst:
        said.append(f"Most error is born in op {worst[0].op} {worst[0].op_type}.")
    if bad:
        first = f"{outcome.words[0].upper()}{outcome.words[1:]}."
        return PageVerdict(tone="bad", word=bad[0].headline, sentence=" ".join([first, *said]))
    return PageVerdict(tone=outcome.tone, word=outcome.words, sentence=" ".join(said))


def _explained(drift: Drift) -> Iterator[str]:
    """What is to be said of the first output that cannot be trusted."""
    for row in drift.outputs:
        if row.is_strange:
            yield f'output "{safe(row.name, 80)}": {strange_words(row)}'
            return
        if row.metrics is None or row.why:
            yield f'output "{safe(row.name, 80)}": {row.why or "it holds no values"}'
            return


def drift_tiles(drift: Drift) -> Iterator[Tile]:
    """Sizes, samples, and how the outputs agree."""
    share = drift.candidate_bytes / max(1, drift.reference_bytes)
    yield Tile(
        label="candidate", value=format_bytes(drift.candidate_bytes), note=f"{share:.0%} of the reference"
    )
    yield Tile(label="reference", value=format_bytes(drift.reference_bytes))
    yield Tile(
        label="compared", value=plural(len(drift.tensors), "tensor"), note=plural(drift.samples, "sample")
    )


def drift_section(drift: Drift) -> Section:
    """Where the error is, layer by layer."""
    blocks: list[Block] = [_outputs(drift)]
    rows = [row for row in drift.tensors if row.op is not None]
    if rows:
        blocks += [_born(rows, drift), _arrived(rows)]
    blocks.append(_tensors(drift))
    if drift.unpaired:
        blocks.append(
            Table(
                id="unpaired",
                caption="Tensors without a counterpart",
                columns=(
                    Column(title="name", kind="mono", wide=True),
                    Column(title="of"),
                    Column(title="made by", kind="mono"),
                    Column(title="why", wide=True),
                ),
                rows=[(row.name, row.model, row.op_type, row.reason) for row in drift.unpaired],
                is_folded=True,
            )
        )
    if drift.notes:
        blocks.append(Listing(title="Notes", items=drift.notes))
    return Section(
        id="drift",
        title="Error of quantization",
        blocks=tuple(blocks),
        lead="Born here: each operator alone, on what it really got. With what arrives: the run as a whole.",
    )


def _label(row: TensorDrift) -> str:
    return f"op {row.op} {safe(row.op_type, 40)} {safe(row.name, 80)}"


def _born(rows: list[TensorDrift], drift: Drift) -> Chart:
    steps = [row.blame if math.isfinite(row.blame) else None for row in rows]
    worst = max(rows, key=lambda row: row.blame if math.isfinite(row.blame) else 0.0)
    data: dict[str, Any] = {
        "kind": "lines",
        "x": list(range(len(rows))),
        "x_kind": "none",
        "x_name": "layers, in the order they run",
        "y_kind": "number",
        "y_name": "steps",
        "series": [
            {
                "name": "steps of error born here",
                "tone": "3",
                "style": "bars",
                "values": steps,
            }
        ],
        "labels": [_label(row) for row in rows],
    }
    is_known = any(row.born_here is not None for row in rows)
    summary = "No layer that was run alone adds an error." if is_known else "No layer could be run alone."
    if worst.blame > 0:
        data["worst"] = {
            "x": rows.index(worst),
            "y": worst.blame,
            "name": f"op {worst.op} {safe(worst.op_type, 30)}",
        }
        told = "; ".join(f"op {row.op} {safe(row.op_type, 30)} {row.blame:.2f}" for row in drift.worst(3))
        summary = f"In steps of a grid that would just hold the values. The worst: {told}."
    return Chart(id="born", title="Where the error is born", summary=summary, data=data)


def _arrived(rows: list[TensorDrift]) -> Chart:
    values = [None if row.metrics is None else _decibels(row.metrics.sqnr_db) for row in rows]
    known = [value for value in values if value is not None]
    gaps = sum(1 for row in rows if row.metrics is not None and math.isnan(row.metrics.sqnr_db))
    last = "the last" if values[-1] is not None else "the last that is known"
    least = (
        f"{min(known):.1f} dB at the worst layer, {known[-1]:.1f} dB at {last}."
        if known
        else "Nothing is known."
    )
    if gaps:
        least += f" A gap: the values of {plural(gaps, 'layer')} are not finite."
    data = {
        "kind": "lines",
        "x": list(range(len(rows))),
        "x_kind": "none",
        "x_name": "layers, in the order they run",
        "y_kind": "decibels",
        "y_name": "signal to noise",
        "height": 240,
        "labels": [_label(row) for row in rows],
        "series": [
            {
                "name": "with what arrives",
                "tone": "0",
                "style": "line",
                "values": values,
                "gaps": "not finite, or not known",
            }
        ],
    }
    return Chart(
        id="arrived", title="Signal to noise, with what arrives from before", summary=least, data=data
    )


def _decibels(value: float) -> float | None:
    """A number that can be drawn: what is equal is better than any, what is not finite is a gap."""
    return None if math.isnan(value) else max(-_MOST_DECIBELS, min(value, _MOST_DECIBELS))


def _outputs(drift: Drift) -> Table:
    return Table(
        id="drift-outputs",
        caption="Outputs",
        columns=(
            Column(title="name", kind="mono", wide=True),
            Column(title="signal to noise, dB", kind="number"),
            Column(title="cosine", kind="number"),
            Column(title="largest error", kind="number"),
            Column(title="same winner", kind="share"),
        ),
        rows=[
            (
                row.name,
                None if row.metrics is None else row.metrics.sqnr_db,
                None if row.metrics is None else row.metrics.cosine,
                None if row.metrics is None else row.metrics.max_abs_error,
                row.argmax_agreement,
            )
            for row in drift.outputs
        ],
    )


def _tensors(drift: Drift) -> Table:
    return Table(
        id="drift-tensors",
        caption="Every tensor that was compared",
        columns=(
            Column(title="op", kind="number"),
            Column(title="type", kind="mono"),
            Column(title="tensor", kind="mono", wide=True),
            Column(title="shape", kind="mono"),
            Column(title="values", kind="mono"),
            Column(title="born here, steps", kind="number"),
            Column(title="signal to noise, dB", kind="number"),
            Column(title="largest error", kind="number"),
            Column(title="clipped", kind="share"),
            Column(title="range used", kind="share"),
        ),
        rows=[_row(row) for row in drift.tensors],
    )


def _row(row: TensorDrift) -> tuple[Any, ...]:
    seen = row.metrics
    born = None if row.born_here is None else round(row.blame, 4)
    numbers = (
        (None,) * 4
        if seen is None
        else (seen.sqnr_db, seen.max_abs_error, seen.saturated_share, seen.range_used)
    )
    return (row.op, row.op_type, row.name, format_shape(row.shape), row.dtype, born, *numbers)


def compare_page(drift: Drift, reference: str, candidate: str, model: Model | None = None) -> Page:
    """The page of `outlive compare`."""
    sections = [*findings_sections(drift.findings), drift_section(drift)]
    if model is not None:
        sections += [operators_section(model, what_is_known(drift=drift)), model_section(model)]
    page = make_page("compare", candidate, drift_verdict(drift), tuple(drift_tiles(drift)), sections)
    return Page(
        title=page.title,
        kind=page.kind,
        verdict=page.verdict,
        tiles=page.tiles,
        sections=page.sections,
        subtitle=f"{candidate} against {reference}",
    )
