"""an accelerator leaves operators of this model to the CPU

What it checks
    Whether an accelerator that runs the model takes only some of its operators, and into how many partitions
    that cuts the graph.

Why it matters
    At each border tensors are handed over between the accelerator and the CPU; many borders can cost more
    than the accelerator saves.

What to do
    Where what is left out stands at the start or the end of the graph, make it a model of its own. Otherwise
    see the reason given for each operator: it is mostly a rank, a type or a shape that can be changed.

Limits
    Operators of the main graph only.
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
        return "what it leaves runs on the CPU"
    size = sum(crossing.bytes for crossing in one.crossings)
    count = plural(len(one.crossings), "tensor")
    return f"{count}, {format_bytes(size)}, are handed over at each run"
