"""XNNPACK took no operator of the model

What it checks
    Of a run with the runtime's default kernels: whether XNNPACK took any operator, read from the runtime's
    own list of nodes.

Why it matters
    It is not an error, and nothing says so: the model runs with the plain kernels, often several times
    slower than one of the same size that XNNPACK takes.

What to do
    Look at the types and shapes: dynamic shapes, and types such as uint8 in older models, keep it away.

Limits
    A model that does little has nothing to gain.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Fault, Remedy, Severity, Sighting, Tag
from outlive.rules.engine import rule
from outlive.rules.silent.s702_delegate_fell_back import BUILT_IN, told_nodes
from outlive.worker.flight import Flight


@rule("S703", "nothing-accelerated", Severity.NOTE, since="0.1")
def nothing_accelerated(flight: Flight) -> Iterator[Sighting]:
    """See the module."""
    seen = flight.delegation
    if flight.died or seen is None or seen.asked != BUILT_IN or seen.taken or not seen.operators:
        return
    yield Sighting(
        where="the run",
        evidence=told_nodes(seen),
        why="no operator here is one that XNNPACK has, in this type and shape",
        remedies=(
            Remedy(
                action="see which dimensions and types are in its way",
                tag=Tag.SAME_RESULTS,
                command="outlive read FILE --tensors",
            ),
        ),
        fault=Fault.FILE,
    )
