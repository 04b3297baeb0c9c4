"""Operator writes to a constant

What it checks
    No output of an operator has a buffer with bytes in the file.

Why it matters
    Constants lie in the memory-mapped file, which is read-only. The process crashes, or the runtime
    refuses to resize the tensor.

What to do
    Convert the model again. If a tool edited the file, check that tool.

Limits
    If another tensor has no data as a result, O103 reports that instead.
"""

from outlive.model import Model
from outlive.rules.api import Iterator, Severity, rule
from outlive.rules.operator.graph_demands import overwritten_constants, unfilled
from outlive.rules.operator.prepared import PreparedOperator, operators_of, operators_with


def _unreported(model: Model) -> Iterator[PreparedOperator]:
    reported = {item.stray_writer.place for item in unfilled(model) if item.stray_writer is not None}
    return (op for op in operators_of(model) if op.place not in reported and not op.operator.is_custom)


def _faults(op: PreparedOperator) -> Iterator[str]:
    for slot in overwritten_constants(op):
        tensor = op.tensor(slot)
        if tensor is not None:
            yield f"{op.describe(slot)} uses buffer {tensor.buffer_index}, which has data in the file"


RULE = rule("O105", "output-is-constant", Severity.ERROR, since="0.1", cause="buffer-aliased")(
    operators_with(_faults, "a tool assigned the buffer of another tensor to this one", among=_unreported)
)
