"""A quantization as JSON: what became of each operator."""

from __future__ import annotations

from dataclasses import asdict

from outlive.quant.nouns import Quantized
from outlive.rendering.document import Json, document, finding_json


def quantize_json(made: Quantized) -> Json:
    """The document."""
    body: Json = {
        "model": {"path": made.path or None, "file_bytes": made.float_bytes},
        "output": {"path": made.written or None, "file_bytes": made.file_bytes},
        "recipe": made.recipe,
        "samples": made.samples,
        "seconds": made.seconds,
        "layers": [
            {
                "op": layer.op,
                "type": layer.type,
                "name": layer.name,
                "quantized": layer.is_quantized,
                "how": layer.how,
                "why": layer.why,
            }
            for layer in made.layers
        ],
        "steps": [asdict(step) for step in made.steps],
        "findings": [finding_json(item) for item in made.findings],
    }
    return document("quantize", body)
