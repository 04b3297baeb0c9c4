"""Model input is a constant

What it checks
    No input of the model has a buffer with bytes in the file.

Why it matters
    Constants lie in the memory-mapped file, which is read-only: the process crashes when you set the
    input.

What to do
    Convert the model again. If a tool edited the file, check that tool.

Limits
    The model is safe as long as you do not set that input. If an operator reads another tensor without
    data, O115 reports it.
"""

from itertools import islice

from outlive.model import Model
from outlive.rules.api import Severity, Sightings, rule
from outlive.rules.operator.graph_demands import constant_inputs, unfilled
from outlive.rules.operator.prepared import MOST_SIGHTINGS, sight
from outlive.rules.wording import tensor_name


@rule("O116", "input-is-constant", Severity.ERROR, since="0.1", cause="buffer-aliased")
def input_is_constant(model: Model) -> Sightings:
    if any(item.strays for item in unfilled(model)):
        return
    for op, tensor in islice(constant_inputs(model), MOST_SIGHTINGS):
        fact = f"{tensor_name(tensor)} uses buffer {tensor.buffer_index}, which has data in the file"
        yield sight(model, op, [fact], "a tool assigned the buffer of a constant to an input")
