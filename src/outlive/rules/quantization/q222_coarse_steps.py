"""Values use little of their integer range

What it checks
    The values of all samples need at least an eighth of the levels of int8 and uint8 tensors (32
    levels), including 0.

Why it matters
    The steps are eight times coarser than necessary, and the error is larger by the same factor.

What to do
    Calibrate without outliers, or with realistic samples.

Limits
    Outputs with a scale fixed by the runtime (Q229), inputs (Q230), and tensors that only pass values
    on are exempt. A few samples may not show the full range of a tensor.
"""

from outlive.quant import Drift, TensorDrift
from outlive.rules.api import Severity, Sightings, rule
from outlive.rules.quantization import drifts

_LEAST_SHARE = 1 / 8


@rule("Q222", "coarse-steps", Severity.NOTE, since="0.1")
def coarse_steps(drift: Drift) -> Sightings:
    inputs = {found.held_by for found in drift.input_ranges}
    coarse = (row for row in drift.tensors if _is_coarse(row) and row.index not in inputs)
    bad = sorted(coarse, key=drifts.needed_share)
    if not bad:
        return
    yield drifts.sight_layers(
        bad,
        (f"{drifts.layer_name(row)}: {drifts.needed_share(row):.1%} of the {row.dtype} range" for row in bad),
        "the calibrated range is much wider than the values",
        drifts.calibrate_again(drifts.finer(1 / drifts.needed_share(bad[0]))),
        drifts.wider(),
        confidence=drifts.certainty(drift),
    )


def _is_coarse(row: TensorDrift) -> bool:
    if (
        row.dtype not in ("int8", "uint8")
        or row.op_type in (*drifts.FIXED, *drifts.HANDING_ON)
        or row.metrics is None
    ):
        return False
    return row.metrics.reference_min < row.metrics.reference_max and drifts.needed_share(row) < _LEAST_SHARE
