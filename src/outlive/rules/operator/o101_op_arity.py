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

from outlive.rules.api import Iterator, Severity, rule
from outlive.rules.operator.option_demands import miscounted
from outlive.rules.operator.scene import Scene, operators_with, scenes


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


RULE = rule("O101", "op-arity", Severity.ERROR, since="0.1", cause="op-arity")(
    operators_with(
        _faults, "a tensor was added or dropped, or the operator is not the one it was", among=scenes
    )
)
