"""a delegate that was asked for did not take the whole model

What it checks
    Of a run with delegates that were named (experimental_delegates): how many operators they took, read from
    the runtime's own list of nodes before XNNPACK takes what is left.

Why it matters
    Nothing says so: what a delegate does not take runs on the CPU. A model that was to run on an accelerator
    can run without it, and each piece that is left over costs a copy there and back.

What to do
    See which operators were left, and whether the delegate takes them in another type or version.

Limits
    Why the delegate left them is its own secret, unless it printed it.
"""

from outlive.process.delegation import DelegationSeen
from outlive.process.flight import Flight
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import last_words
from outlive.units import plural

_SHOWN = 5
BUILT_IN = ("XNNPACK",)


@rule("S702", "delegate-fell-back", Severity.WARNING, since="0.1", cause="delegate-refused")
def delegate_fell_back(flight: Flight) -> Sightings:
    seen = flight.delegation
    if flight.died or seen is None or seen.asked == BUILT_IN or seen.taken >= seen.operators:
        return
    said = last_words(flight)
    printed = (Evidence(f"printed last: {said}", "standard error"),) if said else ()
    yield Sighting(
        where=", ".join(seen.asked),
        evidence=(*node_evidence(seen), *printed),
        why="what it does not take runs on the CPU"
        if seen.taken
        else "it took nothing: the model ran as if it had not been asked for",
        remedies=(
            Remedy("see what it says of each operator: set its own option for messages", Tag.SAME_RESULTS),
            Remedy(
                "cut off what it does not take, and run that part on the CPU knowingly",
                Tag.CHANGES_MODEL,
                command="outlive cut FILE --until N -o part.tflite",
            ),
        ),
        fault=Fault.RUNTIME,
    )


def node_evidence(seen: DelegationSeen) -> tuple[Evidence, ...]:
    """What was taken and what was left, in words."""
    parts = f" in {plural(seen.parts, 'part')}" if seen.parts else ""
    taken = f"it took {seen.taken} of {plural(seen.operators, 'operator')}{parts}"
    first = ", ".join(f"op {index} {kind}" for index, kind in seen.left[:_SHOWN])
    unnamed = seen.operators - seen.taken - min(len(seen.left), _SHOWN)
    more = f" and {unnamed} more" if unnamed > 0 else ""
    return (
        Evidence(taken, "nodes of the runtime"),
        Evidence(f"left to other kernels: {first}{more}", "nodes of the runtime"),
    )
