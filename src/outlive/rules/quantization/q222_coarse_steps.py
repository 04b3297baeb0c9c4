"""values use a small part of what their type can hold

What it checks
    How many of the type's levels the values that any sample gave would need, from the least to the greatest,
    with 0 among them. Seen are int8 and uint8 tensors that need less than an eighth, fewer than 32 levels.

Why it matters
    The steps are eight times coarser than they had to be, and so is the error.

What to do
    Calibrate without outliers, or with the samples that the model will really meet.

Limits
    Outputs of operators whose scale is fixed by the runtime (softmax, logistic, tanh) are left alone, and so
    are tensors that only hand on what they get. Few samples may not show all that a tensor can become.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Severity, Sighting
from outlive.quant.nouns import Drift, TensorDrift
from outlive.rules.engine import rule
from outlive.rules.quantization.drifting import SHOWN, calibrate_again, layer_name, op_place, seen, wider
from outlive.units import plural

_LEAST_SHARE = 1 / 8
_LEVELS = 255
_FIXED = ("SOFTMAX", "LOGISTIC", "TANH", "L2_NORMALIZATION", "LOG_SOFTMAX")
# These must keep the scale of what they are given.
_HANDING_ON = (
    "RESHAPE", "MAX_POOL_2D", "AVERAGE_POOL_2D", "PAD", "PADV2", "SLICE", "STRIDED_SLICE", "SPLIT", "GATHER",
    "TRANSPOSE", "SQUEEZE", "EXPAND_DIMS", "CONCATENATION", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR",
    "PACK", "UNPACK", "RELU", "RELU6", "MEAN", "REDUCE_MAX", "REDUCE_MIN", "TILE", "BATCH_TO_SPACE_ND",
    "SPACE_TO_BATCH_ND", "DEPTH_TO_SPACE", "SPACE_TO_DEPTH", "MAXIMUM", "MINIMUM",
)  # fmt: skip


@rule("Q222", "coarse-steps", Severity.NOTE, since="0.1")
def coarse_steps(drift: Drift) -> Iterator[Sighting]:
    """See the module."""
    bad = sorted((row for row in drift.tensors if _is_coarse(row)), key=_used)
    if not bad:
        return
    facts = [seen(f"{layer_name(row)}: {_used(row):.1%} of the levels of {row.dtype}") for row in bad[:SHOWN]]
    if len(bad) > SHOWN:
        facts.append(seen(f"{plural(len(bad) - SHOWN, 'more tensor')} like that"))
    yield Sighting(
        where=layer_name(bad[0]),
        evidence=tuple(facts),
        why="the range that was chosen is much wider than the values that pass",
        remedies=(calibrate_again(), wider()),
        confidence="likely" if drift.samples < 10 else "certain",
        op=op_place(bad[0]),
    )


def _used(row: TensorDrift) -> float:
    """The part of the range that the values, and 0 with them, would need."""
    metrics = row.metrics
    if metrics is None or metrics.range_used is None or not row.scale or not metrics.num_elements:
        return 1.0
    needed = max(metrics.reference_max, 0.0) - min(metrics.reference_min, 0.0)
    return needed / (_LEVELS * row.scale)


def _is_coarse(row: TensorDrift) -> bool:
    if row.dtype not in ("int8", "uint8") or row.op_type in (*_FIXED, *_HANDING_ON) or row.metrics is None:
        return False
    return row.metrics.reference_min < row.metrics.reference_max and _used(row) < _LEAST_SHARE
