"""A comparison as blocks: where error is born, what arrives, the outputs, every tensor."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from outlive.quant.nouns import Drift, TensorDrift
from outlive.report.html.blocks import Block, Chart, Column, Listing, Section, Table, Tile, Verdict
from outlive.report.names import safe
from outlive.units import format_bytes, format_shape, plural

_MOST_DECIBELS = 120.0


def drift_verdict(drift: Drift) -> Verdict:
    """How good the outputs are, and the worst layer."""
    bad = [item for item in drift.findings if item.severity.value == "error"]
    decibels = _least_decibels(drift)
    word = (
        "the outputs are equal"
        if decibels is None
        else f"{decibels:.1f} dB of signal to noise at the outputs"
    )
    agreements = [row.argmax_agreement for row in drift.outputs if row.argmax_agreement is not None]
    said = [f"The same winner in {min(agreements):.1%} of the samples."] if agreements else []
    worst = drift.worst(1)
    if worst:
        said.append(f"Most error is born in op {worst[0].op} {worst[0].op_type}.")
    if bad:
        return Verdict(
            tone="bad", word=bad[0].headline, sentence=" ".join([f"{word[0].upper()}{word[1:]}.", *said])
        )
    tone = "good" if decibels is None or decibels >= 20 else "warn"
    return Verdict(tone="good" if tone == "good" else "warn", word=word, sentence=" ".join(said))


def _least_decibels(drift: Drift) -> float | None:
    """The worst output's; None if none differs at all."""
    found = [row.metrics.sqnr_db for row in drift.outputs if row.metrics is not None]
    finite = [value for value in found if math.isfinite(value)]
    return min(finite, default=None)


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
    worst = max(rows, key=lambda row: row.blame)
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
                "values": [r.blame for r in rows],
            }
        ],
        "labels": [_label(row) for row in rows],
    }
    summary = "No layer adds an error of its own."
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
    least = (
        f"{min(known):.1f} dB at the worst layer, {known[-1]:.1f} dB at the last."
        if known
        else "Nothing is known."
    )
    data = {
        "kind": "lines",
        "x": list(range(len(rows))),
        "x_kind": "none",
        "x_name": "layers, in the order they run",
        "y_kind": "decibels",
        "y_name": "signal to noise",
        "height": 240,
        "labels": [_label(row) for row in rows],
        "series": [{"name": "with what arrives", "tone": "0", "style": "line", "values": values}],
    }
    return Chart(
        id="arrived", title="Signal to noise, with what arrives from before", summary=least, data=data
    )


def _decibels(value: float) -> float:
    """A number that can be drawn: what is equal is better than any."""
    return _MOST_DECIBELS if math.isnan(value) else max(-_MOST_DECIBELS, min(value, _MOST_DECIBELS))


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
