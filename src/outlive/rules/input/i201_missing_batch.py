"""the input lacks the batch dimension

What it checks
    Whether the shape given is the one wanted without its first dimension of 1.

Why it matters
    It is a very common reason why a model refuses an image: a picture has three dimensions, a batch of one
    picture four.

What to do
    Add the dimension with np.expand_dims.

Limits
    Only a first dimension of 1 is recognised.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Fault, Remedy, Severity, Sighting, Tag
from outlive.interpreter.judge import Call
from outlive.rules.engine import rule
from outlive.rules.witness import tensor_place, wanted_and_given


@rule("I201", "missing-batch", Severity.ERROR, since="0.1", cause="wrong-shape")
def missing_batch(call: Call) -> Iterator[Sighting]:
    """See the module."""
    if call.problem != "missing-batch":
        return
    yield Sighting(
        where=tensor_place(call, "input"),
        evidence=wanted_and_given(call),
        why="the model takes batches, and a batch of one has a dimension for that too",
        remedies=(
            Remedy(
                action="add the dimension in front",
                tag=Tag.SAME_RESULTS,
                command="value = np.expand_dims(value, 0)",
            ),
        ),
        fault=Fault.INPUT,
    )
