"""the quantized model cannot be loaded by the runtime

What it checks
    The new file is loaded and its tensors are allocated, in a worker, as an interpreter would do it.

Why it matters
    A quantizer can write what no kernel takes: a type that an operator does not have, a zero point where
    there must be none. Such a file fails on the device, long after it was made.

What to do
    Leave the operator in float that the runtime names, or take another recipe.

Limits
    It is loaded with the runtime that is installed here; the one on the device may know less, or more.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Evidence, Fault, Remedy, Severity, Sighting, Tag
from outlive.quant.nouns import Quantized
from outlive.rules.engine import rule


@rule("Q217", "quantized-model-refused", Severity.ERROR, since="0.1")
def quantized_model_refused(quantized: Quantized) -> Iterator[Sighting]:
    """See the module."""
    if not quantized.refusal:
        return
    yield Sighting(
        where=f"recipe {quantized.recipe}",
        evidence=(Evidence(fact=quantized.refusal, source="LiteRT, while tensors were allocated"),),
        why="the quantizer wrote an operator that its kernel does not take",
        remedies=(
            Remedy(
                action="leave that type of operator in float",
                tag=Tag.CHANGES_MODEL,
                command="outlive quantize FILE --recipe static-int8 --samples samples.npz --skip TYPE -o OUT",
            ),
            Remedy(
                action="quantize weights only",
                tag=Tag.CHANGES_MODEL,
                command="outlive quantize FILE --recipe weight-only-int8 -o OUT",
            ),
        ),
        fault=Fault.RUNTIME,
    )
