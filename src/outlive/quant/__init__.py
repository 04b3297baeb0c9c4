"""WHAT DID QUANTIZATION CHANGE?

::

    samples ──► feeding ──► capturing ─ reference ─┐
    (streamed, checked)     capturing ─ candidate ─┼─► tallying ──► Drift
                            isolating ─ each op ───┘   sums only, never values
    model ──► recipes ──► quantizing (ai-edge-quantizer, in a worker) ──► Quantized

Nouns: the *reference* is the model that is right, the *candidate* the one that is asked about; a *pair* is a
tensor of each that mean the same. The *accumulated* view holds the candidate's run against the reference's.
The *born here* view runs each operator of the reference alone, on the (dequantized) inputs that the
candidate's operator really got, and holds the candidate's output against that: what is left arose there.
"""

from outlive.quant.nouns import Drift, Metrics, OutputDrift, TensorDrift
from outlive.quant.quantized import Quantized

__all__ = ["Drift", "Metrics", "OutputDrift", "Quantized", "TensorDrift"]
