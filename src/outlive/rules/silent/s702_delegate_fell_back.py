"""The delegate did not take the whole model

What it checks
    The delegates that you named (experimental_delegates) took all operators, by the runtime's own list
    of nodes before XNNPACK takes the rest.

Why it matters
    The fallback is silent: the remaining operators run on the CPU. A model can run entirely without its
    accelerator, and each remaining part costs a copy there and back.

What to do
    Check which operators remain, and whether the delegate supports them in another type or version.

Limits
    The reason is known only if the delegate printed it.
"""

from outlive.process.flight import DelegationSeen, Flight
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
    printed = (Evidence(f"last output: {said}", "standard error"),) if said else ()
    yield Sighting(
        where=", ".join(seen.asked),
        evidence=(*node_evidence(seen), *printed),
        why="the other operators run on the CPU" if seen.taken else "the model ran entirely on the CPU",
        remedies=(
            Remedy("enable the delegate's messages to see its reasons", Tag.SAME_RESULTS),
            Remedy(
                "split off the unsupported operators, and run them on the CPU",
                Tag.CHANGES_MODEL,
                command="outlive cut FILE --until N -o part.tflite",
            ),
        ),
        fault=Fault.RUNTIME,
    )


def node_evidence(seen: DelegationSeen) -> tuple[Evidence, ...]:
    """What was taken and what was left, in words."""
    parts = f" in {plural(seen.parts, 'part')}" if seen.parts else ""
    taken = f"took {seen.taken} of {plural(seen.operators, 'operator')}{parts}"
    first = ", ".join(f"operator {index} ({kind})" for index, kind in seen.left[:_SHOWN])
    unnamed = seen.operators - seen.taken - min(len(seen.left), _SHOWN)
    more = f" and {unnamed} more" if unnamed > 0 else ""
    return (
        Evidence(taken, "nodes of the runtime"),
        Evidence(f"left to other kernels: {first}{more}", "nodes of the runtime"),
    )
