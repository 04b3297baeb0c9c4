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
from outlive.rules.operator.prepared import PreparedOperator, operators_of, operators_with


def _faults(op: PreparedOperator) -> Iterator[str]:
    if op.signature is None:
        return
    wanted = (("input", op.operator.inputs, op.signature.inputs),
              ("output", op.operator.outputs, op.signature.outputs))  # fmt: skip
    for word, row, (low, high) in wanted:
        if not low <= len(row) <= high:
            span = str(low) if low == high else f"{low} to {high}"
            yield f"{len(row)} {word}s; the kernel takes {span}"
    if op.is_whole:
        yield from (fact for fact, cause in miscounted(op) if cause == "op-arity")


RULE = rule("O101", "op-arity", Severity.ERROR, since="0.1", cause="op-arity")(
    operators_with(
        _faults,
        "a tensor was added or dropped, or the operator is not the one it was",
        among=operators_of,
    )
)
