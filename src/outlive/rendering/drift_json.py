"""A comparison as a JSON document, as TensorFlow's CSV, and as node data for Model Explorer."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import asdict

from outlive.names import plain_cell, safe
from outlive.quant.nouns import Drift, Metrics, OutputDrift, TensorDrift, Unpaired
from outlive.rendering.document import Json, document, finding_json

# The columns of tf.lite.experimental.QuantizationDebugger.layer_statistics_dump, in its order.
_CSV = (
    "op_name", "tensor_idx", "num_elements", "stddev", "mean_error", "max_abs_error", "mean_squared_error",
    "scale", "zero_point", "tensor_name",
)  # fmt: skip
_NAME = 2_000


def drift_json(drift: Drift, reference: str | None, candidate: str | None) -> Json:
    """The document."""
    body: Json = {
        "reference": {"path": reference, "file_bytes": drift.reference_bytes},
        "candidate": {"path": candidate, "file_bytes": drift.candidate_bytes},
        "samples": drift.samples,
        "outputs_are": drift.verdict.name,
        "tensors": [_tensor(row) for row in drift.tensors],
        "outputs": [_output(row) for row in drift.outputs],
        "worst": [row.index for row in drift.worst()],
        "unpaired": [_unpaired(row) for row in drift.unpaired],
        "turns": {
            "count": drift.turns.count,
            "budget_bytes": drift.turns.budget_bytes,
            "largest_bytes": drift.turns.largest_bytes,
        },
        "inputs": [
            {"name": row.name, "low": row.low, "high": row.high, "can_hold": row.can_hold}
            for row in drift.input_ranges
        ],
        "notes": list(drift.notes),
        "findings": [finding_json(item) for item in drift.findings],
    }
    return document("compare", body)


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


def _tensor(row: TensorDrift) -> Json:
    return {
        "name": row.name,
        "index": row.index,
        "op": None if row.op is None else {"subgraph": 0, "index": row.op, "type": row.op_type},
        "reference": {"name": row.reference_name, "index": row.reference_index},
        "paired_by": row.paired_by,
        "dtype": row.dtype,
        "shape": list(row.shape),
        "scale": row.scale,
        "zero_point": row.zero_point,
        "metrics": _metrics(row.metrics),
        "born_here": _metrics(row.born_here),
        "why_not_alone": row.alone or None,
        "weights": None if row.weights is None else asdict(row.weights),
        "blame": row.blame,
    }


def _metrics(metrics: Metrics | None) -> Json | None:
    return None if metrics is None else dict(metrics.as_dict())


def _output(row: OutputDrift) -> Json:
    return {
        "name": row.name,
        "index": row.index,
        "reference": row.reference_name,
        "metrics": _metrics(row.metrics),
        "argmax_agreement": row.argmax_agreement,
        "user_metrics": dict(row.user_metrics),
        "why_not_compared": row.why or None,
    }


def _unpaired(row: Unpaired) -> Json:
    return {
        "name": row.name,
        "index": row.index,
        "model": row.model,
        "op_type": row.op_type,
        "reason": row.reason,
    }
