"""The accelerator leaves operators to the CPU

What it checks
    An accelerator that runs the model takes all of its operators. Otherwise the finding counts the
    partitions of the graph.

Why it matters
    At each partition boundary, tensors move between the accelerator and the CPU. Many boundaries can
    cost more than the accelerator saves.

What to do
    If the remaining operators are at the start or the end of the graph, make them a separate model.
    Otherwise read the reason for each operator: in most cases it is a rank, a type or a shape that you
    can change.

Limits
    The rule checks operators of the main graph only.
"""

from outlive.accelerators import Accelerator, Coverage
from outlive.rules.accelerator.coverage_wording import place, refusals, remedies_for
from outlive.rules.api import Evidence, Fault, Severity, Sighting, Sightings, rule
from outlive.units import format_bytes, plural


@rule("A804", "partly-taken", Severity.NOTE, since="0.1")
def partly_taken(coverage: Coverage) -> Sightings:
    for one in coverage.accelerators:
        count = one.ops_taken
        if (
            one.outcome not in ("runs", "differs", "compiles")
            or count is None
            or not 0 < count < one.ops_total
        ):
            continue
        parts = "" if one.partitions is None else f" in {plural(one.partitions, 'partition')}"
        fact = f"takes {count} of {plural(one.ops_total, 'operator')}{parts}"
        yield Sighting(
            where=place(coverage, one),
            evidence=(Evidence(fact, "run"), *refusals(one.refused)),
            why=_why(one),
            remedies=remedies_for(coverage, one),
            fault=Fault.RUNTIME,
        )


def _why(one: Accelerator) -> str:
    if not one.crossings:
        return "the other operators run on the CPU"
    size = sum(crossing.bytes for crossing in one.crossings)
    count = plural(len(one.crossings), "tensor")
    return f"{count}, {format_bytes(size)}, move between accelerator and CPU in each run"
