"""Wrong number of tensors

What it checks
    Each operator has as many inputs and outputs as its kernel takes; SPLIT, UNPACK and PACK also as
    many as their count option says.

Why it matters
    Most kernels refuse such an operator. Some kernels, and XNNPACK, read past the end of the list and
    crash the process.

What to do
    Convert the model again. If a tool edited the file, check that tool.

Limits
    Custom operators, and operators without a LiteRT kernel, are not checked.
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
        "a tool added or removed a tensor, or changed the operator",
        among=operators_of,
    )
)
