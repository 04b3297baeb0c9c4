"""A comparison: how good the outputs are, the layers where error arises, what arrives, every tensor."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from outlive.finding import Finding, Severity
from outlive.names import safe
from outlive.quant import Drift, OutputDrift, TensorDrift
from outlive.rendering import page as ui
from outlive.rendering.pages.read import model_sections, what_is_known
from outlive.units import format_bytes, format_shape, plural

_MOST_DECIBELS = 120.0
_NAMED = 5
_LONGEST_NAME = 40
# These say where the error is and what it does; other findings say why.
_SYMPTOMS = ("Q220", "Q224")


def page(drift: Drift) -> ui.Page:
    """The page of a comparison."""
    notes = [finding for finding in drift.findings if finding.severity is Severity.NOTE]
    sections = [
        *ui.findings_sections(_by_cause(drift)),
        drift_section(drift),
        *(replace(part, id="notes", detail=1) for part in ui.findings_sections(notes, "Notes")),
    ]
    sections += model_sections(drift.source, what_is_known(drift=drift))
    made = ui.make_page("compare", drift.candidate_path, drift_verdict(drift), drift_tiles(drift), sections)
    paths = drift.candidate_path or "the candidate", drift.reference_path or "the reference"
    names = map(os.path.basename, paths)
    return replace(made, title=" against ".join(names), subtitle=" against ".join(paths))


def drift_verdict(drift: Drift) -> ui.PageVerdict:
    """How good the outputs are, and the worst layer."""
    bad = [item for item in drift.findings if item.severity.value == "error"]
    outcome = drift.verdict
    said = [f"{name[0].upper()}{name[1:]}." for name in _explained(drift)]
    said += _cause(drift)
    agreements = [row.argmax_agreement for row in drift.outputs if row.argmax_agreement is not None]
    if agreements:
        said.append(f"Same top-1 in {min(agreements):.1%} of the samples.")
    if bad:
        first = f"{outcome.words[0].upper()}{outcome.words[1:]}."
        return ui.PageVerdict("bad", bad[0].headline, " ".join([first, *said]))
    warned = outcome.tone == "good" and ui.worst_tone(drift.findings) == "warn"
    return ui.PageVerdict("warn" if warned else outcome.tone, outcome.words, " ".join(said))


def _cause(drift: Drift) -> Iterator[str]:
    """Why the outputs differ, and what to do: a fault of the calibration, else the layer that adds most."""
    wrong = _by_cause(drift)  # where nothing is, no layer is to be kept in float
    faults = [item for item in wrong if item.code not in _SYMPTOMS and item.remedies]
    if faults:
        yield f"{faults[0].headline}. Fix: {faults[0].remedies[0].action}."
    elif wrong and drift.outputs_are != "equal":
        yield from map(_blamed, drift.worst(1))


def _by_cause(drift: Drift) -> list[Finding]:
    """The findings that are more than notes: causes before what follows from them."""
    found = [item for item in drift.findings if item.severity is not Severity.NOTE]
    return sorted(found, key=lambda item: item.code in _SYMPTOMS)


def _blamed(row: TensorDrift) -> str:
    """The layer that adds most of the error, and what to do about it."""
    op = "" if row.op is None else f"operator {row.op}, "
    named = f"Layer {safe(row.name, _LONGEST_NAME)} ({op}{row.op_type})" if row.name else f"O{op[1:-2]}"
    is_short = 0 < len(row.reference_name) <= _LONGEST_NAME
    skipped = shlex.quote(row.reference_name) if is_short else row.reference_op
    fix = f"add --skip {skipped} to outlive quantize" if skipped is not None else "keep it in float"
    return f"{named} adds most of the error. Fix: {fix}."


def _explained(drift: Drift) -> Iterator[str]:
    """What is to be said of outputs that cannot be trusted; of the first, where there are many."""
    for row in drift.outputs:
        if row.is_strange:
            yield f'output "{safe(row.name, 80)}": {_strange_words(row)}'
            return
        if row.metrics is None or row.why:
            yield f'output "{safe(row.name, 80)}": {row.why or "no values"}'
            return


def _strange_words(row: OutputDrift) -> str:
    """How many values of an output are NaN or infinite."""
    found = row.metrics
    if found is None or not found.not_finite:
        return "the error is not finite"
    return f"{found.not_finite:,} of {found.not_finite + found.num_elements:,} values are not finite"


def drift_tiles(drift: Drift) -> Iterator[ui.Tile]:
    """Sizes and samples."""
    share = drift.candidate_bytes / max(1, drift.reference_bytes)
    yield ui.Tile("candidate", format_bytes(drift.candidate_bytes), f"{share:.0%} of the reference")
    yield ui.Tile("reference", format_bytes(drift.reference_bytes))
    turns = "" if drift.turns.count == 1 else f", in {drift.turns.count} passes"
    yield ui.Tile("compared", plural(len(drift.tensors), "tensor"), plural(drift.samples, "sample") + turns)


def drift_section(drift: Drift) -> ui.Section:
    """Where the error is, layer by layer."""
    blocks: list[ui.Block] = [_outputs(drift)]
    if drift.notes:
        blocks.append(ui.Listing(tuple(f"note: {note}" for note in drift.notes)))
    blocks += _worst(drift)
    rows = [row for row in drift.tensors if row.op is not None]
    if rows:
        blocks += [_born(rows, drift), _arrived(rows)]
    blocks += [*_unpaired(drift), _tensors(drift)]
    sizes = f"{format_bytes(drift.candidate_bytes)} and {format_bytes(drift.reference_bytes)}"
    return ui.Section(
        "drift",
        "Quantization error",
        tuple(blocks),
        lead=f"{plural(len(drift.tensors), 'pair')} of tensors, {plural(drift.samples, 'sample')}, {sizes}.",
    )


def _worst(drift: Drift) -> Iterator[ui.Block]:
    """The layers that lose most, each by the error that arises in it alone."""
    rows = drift.worst(len(drift.tensors))
    if not rows:
        is_known = any(row.born_here is not None for row in drift.tensors)
        none = "No operator adds an error." if is_known else "No operator could run alone."
        yield ui.Words(none)
    else:
        yield ui.Table(
            "worst",
            "Error added by each layer (in int8 steps)",
            ui.columns(
                "op: number | type: mono | layer: mono wide | steps: number | SQNR added here, dB: number",
                "SQNR total, dB: number | clipped: share | range used: share",
            ),
            [_worst_row(row) for row in rows],
            detail=1 if drift.findings or drift.outputs_are == "equal" else 0,
            brief=drift.top,
        )
    left = [row for row in drift.tensors if row.alone and row.born_here is None]
    if left:
        reasons = "; ".join(sorted({row.alone for row in left}))
        yield ui.Words(f"{plural(len(left), 'operator')} could not run alone: {reasons}", detail=1)


def _worst_row(row: TensorDrift) -> tuple[Any, ...]:
    here, total = row.born_here, row.metrics
    return (
        row.op,
        row.op_type,
        row.name,
        round(row.blame, 2),
        None if here is None else here.sqnr_db,
        None if total is None else total.sqnr_db,
        None if here is None else here.saturated_share or None,
        None if total is None else total.range_used,
    )


def _unpaired(drift: Drift) -> Iterator[ui.Block]:
    for side in ("candidate", "reference"):
        rows = [row for row in drift.unpaired if row.model == side]
        if rows:
            named = ", ".join(f"{row.op_type} {safe(row.name, 44)!r}" for row in rows[:_NAMED])
            more = f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
            yield ui.Words(f"Without a counterpart in the {side}: {named}{more}", tone="warn")
    if drift.unpaired:
        yield ui.Table(
            "unpaired",
            "Tensors without a counterpart",
            ui.columns("name: mono wide | model | operator: mono | reason: wide"),
            [(row.name, row.model, row.op_type, row.reason) for row in drift.unpaired],
            is_folded=True,
        )


def _born(rows: list[TensorDrift], drift: Drift) -> ui.Chart:
    steps = [row.blame if math.isfinite(row.blame) else None for row in rows]
    worst = max(rows, key=lambda row: row.blame if math.isfinite(row.blame) else 0.0)
    mark = None
    is_known = any(row.born_here is not None for row in rows)
    summary = "No layer adds an error." if is_known else "No layer could run alone."
    if worst.blame > 0:
        name = f"operator {worst.op}, {safe(worst.op_type, 30)}"
        mark = {"x": rows.index(worst), "y": worst.blame, "name": name}
        worst_rows = "; ".join(
            f"operator {row.op}, {safe(row.op_type, 30)}, {row.blame:.2f}" for row in drift.worst(3)
        )
        summary = f"In int8 steps. Largest: {worst_rows}."
    bars = ui.curve("error added here, in steps", "3", "bars", steps)
    return ui.Chart(
        "born", "Error added by each layer", summary, _by_layer(rows, "number", "steps", bars, worst=mark)
    )


def _arrived(rows: list[TensorDrift]) -> ui.Chart:
    values = [None if row.metrics is None else _decibels(row.metrics.sqnr_db) for row in rows]
    known = [value for value in values if value is not None]
    gaps = sum(1 for row in rows if row.metrics is not None and math.isnan(row.metrics.sqnr_db))
    last = "the last layer" if values[-1] is not None else "the last known layer"
    least = f"{min(known):.1f} dB at the worst layer, {known[-1]:.1f} dB at {last}." if known else "No data."
    if gaps:
        least += f" The values of {plural(gaps, 'layer')} are not finite."
    curve = ui.curve("total", "0", "line", values, gaps="not finite, or unknown")
    data = _by_layer(rows, "decibels", "SQNR", curve, height=240)
    return ui.Chart("arrived", "SQNR of each layer", least, data, is_folded=True)


def _by_layer(
    rows: list[TensorDrift], unit: str, name: str, curve: Mapping[str, Any], **more: Any
) -> Mapping[str, Any]:
    labels = [f"op {row.op} {safe(row.op_type, 40)} {safe(row.name, 80)}" for row in rows]
    across = ("none", "layers, in execution order")
    return ui.lines(range(len(rows)), across, (unit, name), curve, labels=labels, **more)


def _decibels(value: float) -> float | None:
    """A number that can be drawn: what is equal is better than any, what is not finite is a gap."""
    return None if math.isnan(value) else max(-_MOST_DECIBELS, min(value, _MOST_DECIBELS))


def _outputs(drift: Drift) -> ui.Table:
    users = list(dict.fromkeys(name for row in drift.outputs for name in row.user_metrics))
    return ui.Table(
        "drift-outputs",
        "Outputs",
        ui.columns(
            "output: mono wide | SQNR, dB: number | cosine: number",
            "largest error: number | same top-1: share",
            *(ui.Column(name, "number") for name in users),
            "not compared: wide",
        ),
        [_output(row, users) for row in drift.outputs],
    )


def _output(row: OutputDrift, users: list[str]) -> tuple[Any, ...]:
    seen = row.metrics
    numbers = (None,) * 3 if seen is None else (seen.sqnr_db, _number(seen.cosine), seen.max_abs_error)
    own = (row.user_metrics.get(name) for name in users)
    return (row.name, *numbers, row.argmax_agreement, *own, row.why)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _tensors(drift: Drift) -> ui.Table:
    return ui.Table(
        "drift-tensors",
        "All compared tensors",
        ui.columns(
            "op: number | type: mono | tensor: mono wide | shape: mono | values: mono",
            "added here, steps: number | SQNR, dB: number | largest error: number",
            "clipped: share | range used: share",
        ),
        [_row(row) for row in drift.tensors],
        detail=2,
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
