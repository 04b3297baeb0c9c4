"""WHAT DID QUANTIZATION CHANGE?

::

    model ──► recipes ──► quantization (ai-edge-quantizer, in a worker) ──► Quantized
    samples ──► comparison ──► capture: reference ─┐
                               capture: candidate ─┼─► error_statistics ──► Drift         weight_error
                               IsolatedRuns ───────┘   sums only, never values
    Keras, SavedModel ──► conversion (TensorFlow's converter, in a worker) ──► Converted

The *reference* is the model that is right, the *candidate* the one that is asked about; a *pair* is a tensor
of each that mean the same (`tensor_graph`). The *accumulated* view compares the candidate's run with the
reference's. The *born here* view runs each operator of the reference alone, on the (dequantized) inputs that
the candidate's operator got, and compares the candidate's output with that: what is left arose there.
"""

from outlive.quant.drift import Drift, Metrics, OutputDrift, TensorDrift
from outlive.quant.quantized import MixedStep, Quantized

PUBLIC_MODULES = (
    "capture", "carried_converter", "comparison", "comparison_plan", "conversion", "debugger_runs", "drift",
    "error_statistics", "quantized", "quantization", "rebuilt_converter", "recipes", "samples",
    "tensor_graph", "worker_functions",
)  # fmt: skip

__all__ = ["Drift", "Metrics", "MixedStep", "OutputDrift", "Quantized", "TensorDrift"]
