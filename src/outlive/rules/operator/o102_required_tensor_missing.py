"""an operator lacks a tensor that it cannot do without

What it checks
    Left-out tensors (-1) among the inputs and outputs of each operator, against those that its kernel can
    do without.

Why it matters
    Kernels take such a tensor without looking: the process dies when the model is allocated.

What to do
    Convert the model again. If a tool edited it, look for the mistake there.

Limits
    Operators that LiteRT has no kernel for, and custom ones, are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Severity, Sighting
from outlive.model import Model
from outlive.rules.engine import rule
from outlive.rules.operator.scene import Scene, missing_slots, scenes, sight_some


@rule("O102", "required-tensor-missing", Severity.ERROR, since="0.1", cause="required-tensor-missing")
def required_tensor_missing(model: Model) -> Iterator[Sighting]:
    """See the module."""
    yield from sight_some(
        model, scenes(model), _faults, "only some tensors of some operators may be left out"
    )


def _faults(scene: Scene) -> Iterator[str]:
    yield from (f"{slot} is left out (-1)" for slot in missing_slots(scene))
