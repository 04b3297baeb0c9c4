"""an operator writes to a constant of the file

What it checks
    That no output of an operator has a buffer with bytes in the file.

Why it matters
    Constants lie in the mapped file, which cannot be written: the process dies, or the runtime refuses to
    resize the tensor.

What to do
    Convert the model again. If a tool edited it, look for the mistake there.

Limits
    Where another tensor is never filled because of it, O103 reports that instead.
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
            yield f"{op.describe(slot)} has buffer {tensor.buffer_index}, which holds bytes of the file"


RULE = rule("O105", "output-is-constant", Severity.ERROR, since="0.1", cause="buffer-aliased")(
    operators_with(_faults, "the buffer of another tensor was given to this one", among=_unreported)
)
