"""values are cut off at the ends of what their type can hold

What it checks
    The share of each tensor's values that are the least or greatest its type has, where the float model's
    value lies beyond. Seen are tensors with more than one in a hundred.

Why it matters
    What is cut off is lost: the error is as large as what lies beyond the range, and everything after it
    works with that.

What to do
    Calibrate with samples that reach as far as real inputs do.

Limits
    A little clipping of rare outliers can be wanted: it makes all steps finer.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Severity, Sighting
from outlive.quant.nouns import Drift, TensorDrift
from outlive.rules.engine import rule
from outlive.rules.quantization.drifting import SHOWN, calibrate_again, layer_name, op_place, seen, wider
from outlive.units import plural

_MOST_SHARE = 0.01
_GRIDS = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767)}


@rule("Q221", "clipped-values", Severity.WARNING, since="0.1")
def clipped_values(drift: Drift) -> Iterator[Sighting]:
    """See the module."""
    bad = sorted((row for row in drift.tensors if _share(row) > _MOST_SHARE), key=lambda row: -_share(row))
    if not bad:
        return
    facts = [seen(_told(row)) for row in bad[:SHOWN]]
    if len(bad) > SHOWN:
        facts.append(seen(f"{plural(len(bad) - SHOWN, 'more tensor')} like that"))
    yield Sighting(
        where=layer_name(bad[0]),
        evidence=tuple(facts),
        why="the range that was chosen is smaller than the values that pass",
        remedies=(calibrate_again(), wider()),
        op=op_place(bad[0]),
    )


def _share(row: TensorDrift) -> float:
    """The share by the operator's own inputs, where it could be run alone."""
    metrics = row.born_here or row.metrics
    return 0.0 if metrics is None or metrics.saturated_share is None else metrics.saturated_share


def _told(row: TensorDrift) -> str:
    metrics = row.born_here or row.metrics
    assert metrics is not None
    wanted = f"{metrics.reference_min:.4g} to {metrics.reference_max:.4g}"
    holds = ""
    if row.scale is not None and row.zero_point is not None and row.dtype in _GRIDS:
        low, high = (row.scale * (end - row.zero_point) for end in _GRIDS[row.dtype])
        holds = f", it holds {low:.4g} to {high:.4g}"
    return f"{layer_name(row)}: {_share(row):.1%} cut off; values from {wanted}{holds}"
