"""What the zeros of a model are worth, as JSON."""

from __future__ import annotations

from outlive.fitting.pruning import Pruning
from outlive.rendering.document import Json


def pruning_json(found: Pruning) -> Json:
    """The part of the document of `outlive read` that --sparsity adds."""
    return {
        "elements": found.elements,
        "zeros": found.zeros,
        "weights": [
            {
                "subgraph": weight.subgraph,
                "tensor": weight.tensor.index,
                "name": weight.tensor.name,
                "shape": list(weight.tensor.shape),
                "dtype": weight.tensor.dtype,
                "elements": weight.elements,
                "zeros": weight.zeros,
                "stored_bytes": weight.stored_bytes,
                "dense_bytes": weight.dense_bytes,
                "sparse": weight.is_sparse,
            }
            for weight in found.weights
        ],
        "forms": [
            {
                "name": form.name,
                "file_bytes": form.file_bytes,
                "compressed_bytes": form.compressed_bytes,
                "planned_peak_bytes": dict(form.planned_bytes),
                "measured_peak_bytes": dict(form.measured_bytes) or None,
                "problem": form.problem,
            }
            for form in found.forms
        ],
    }
