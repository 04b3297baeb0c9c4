"""values use a small part of what their type can hold

What it checks
    How many of the type's levels the values that any sample gave would need, from the least to the greatest,
    with 0 among them. Seen are int8 and uint8 tensors that need less than an eighth, fewer than 32 levels.

Why it matters
    The steps are eight times coarser than they had to be, and so is the error.

What to do
    Calibrate without outliers, or with the samples that the model will really meet.

Limits
    Left alone are outputs of operators whose scale is fixed by the runtime (Q229), inputs (Q230), and tensors
    that only hand on what they get. Few samples may not show all that a tensor can become.
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
        (
            f"{drifts.layer_name(row)}: {drifts.needed_share(row):.1%} of the levels of {row.dtype}"
            for row in bad
        ),
        "the range that was chosen is much wider than the values that pass",
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
