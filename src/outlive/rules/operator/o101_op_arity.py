"""an operator has the wrong number of tensors

What it checks
    How many inputs and outputs each operator has, against what its kernel takes; for SPLIT, UNPACK and
    PACK also against their count.

Why it matters
    Most kernels refuse such an operator. Some, and XNNPACK, take tensors from behind the end of the list:
    the process dies.

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
from outlive.rules.operator.option_demands import miscounted
from outlive.rules.operator.scene import Scene, scenes, sight_some


@rule("O101", "op-arity", Severity.ERROR, since="0.1", cause="op-arity")
def op_arity(model: Model) -> Iterator[Sighting]:
    """See the module."""
    why = "a tensor was added or dropped, or the operator is not the one it was"
    yield from sight_some(model, scenes(model), _faults, why)


def _faults(scene: Scene) -> Iterator[str]:
    if scene.signature is None:
        return
    wanted = (("input", scene.operator.inputs, scene.signature.inputs),
              ("output", scene.operator.outputs, scene.signature.outputs))  # fmt: skip
    for word, row, (low, high) in wanted:
        if not low <= len(row) <= high:
            span = str(low) if low == high else f"{low} to {high}"
            yield f"{len(row)} {word}s; the kernel takes {span}"
    if scene.is_whole:
        yield from (fact for fact, cause in miscounted(scene) if cause == "op-arity")
