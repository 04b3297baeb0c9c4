"""a sample holds infinite values

What it checks
    Every value of every sample, before anything native sees it.

Why it matters
    Quantization measures the least and greatest value of each tensor. One such value makes the ranges of all
    that depend on it meaningless: the model comes out as float without a word, or the converter dies.

What to do
    Find the sample and mend what makes it, or leave it out.

Limits
    Values that only become so inside the model are seen by a comparison (Q225), not here.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Evidence, Fault, Remedy, Severity, Sighting, Tag
from outlive.interpreter.judge import Call
from outlive.rules.engine import rule
from outlive.units import format_shape


@rule("Q212", "infinity-in-sample", Severity.ERROR, since="0.1", cause="representative-dataset")
def infinity_in_sample(call: Call) -> Iterator[Sighting]:
    """See the module."""
    if call.problem != "infinity-in-sample":
        return
    given = f"a sample of {format_shape(call.given_shape)} {call.given_dtype}"
    yield Sighting(
        where=f'input "{call.name}", tensor {call.index}',
        evidence=(Evidence(fact=f"{call.text} of {given} are infinite", source="samples"),),
        why="a range without end has no step; TensorFlow's converter dies of it",
        remedies=(
            Remedy(
                action="look where they are, and mend what makes them",
                tag=Tag.CHANGES_RESULTS,
                command="np.argwhere(np.isinf(sample))[:10]",
            ),
        ),
        fault=Fault.INPUT,
    )
