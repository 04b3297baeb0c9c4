"""A comparison as TensorFlow's CSV, and as node data for Model Explorer."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence

from outlive.names import plain_cell, safe
from outlive.quant import Drift, TensorDrift
from outlive.records import Json

# The columns of tf.lite.experimental.QuantizationDebugger.layer_statistics_dump, in its order.
_CSV = (
    "op_name", "tensor_idx", "num_elements", "stddev", "mean_error", "max_abs_error", "mean_squared_error",
    "scale", "zero_point", "tensor_name",
)  # fmt: skip
_NAME = 2_000


def drift_csv(rows: Sequence[TensorDrift]) -> str:
    """TensorFlow's table of layers: metrics of each sample, averaged, of the error that is born in each.

    Names are a stranger's: escaped, cut if they are very long, and never a formula.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, _CSV, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        if row.per_sample is None:
            continue
        found = row.per_sample
        writer.writerow(
            {
                "op_name": plain_cell(safe(row.op_type, _NAME)),
                "tensor_idx": row.index,
                "num_elements": found.num_elements,
                "stddev": found.stddev,
                "mean_error": found.mean_error,
                "max_abs_error": found.max_abs_error,
                "mean_squared_error": found.mean_squared_error,
                "scale": "" if row.scale is None else row.scale,
                "zero_point": "" if row.zero_point is None else row.zero_point,
                "tensor_name": plain_cell(safe(row.name, _NAME)),
            }
        )
    return text.getvalue()


def drift_node_data(drift: Drift, graph: str = "main") -> Json:
    """Values for the nodes of Model Explorer, by the indices of operators: steps of error born in each.

    Of an operator with several outputs the worst counts.
    """
    steps: dict[int, float] = {}
    for row in drift.tensors:
        if row.op is not None and row.born_here is not None and math.isfinite(row.blame):
            steps[row.op] = max(steps.get(row.op, 0.0), round(row.blame, 4))
    results = {str(op): {"value": value} for op, value in sorted(steps.items())}
    return {
        graph: {
            "name": "error born here, in steps",
            "results": results,
            "gradient": [{"stop": 0, "bgColor": "#ffffff"}, {"stop": 1, "bgColor": "#c8443c"}],
        }
    }
