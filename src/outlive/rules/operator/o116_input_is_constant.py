"""an input of the model is a constant of the file

What it checks
    That no input of the model has a buffer with bytes in the file.

Why it matters
    Constants lie in the mapped file, which cannot be written: the process dies when the input is set.

What to do
    Convert the model again. If a tool edited it, look for the mistake there.

Limits
    It does no harm as long as that input is not set. Where an operator waits for another tensor instead,
    O115 says so.
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
        fact = f"{tensor_name(tensor)} is an input and has buffer {tensor.buffer_index}, which holds bytes"
        yield sight(model, op, [fact], "the buffer of a constant was given to an input")
