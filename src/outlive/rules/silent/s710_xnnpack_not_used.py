"""XNNPACK was to run the model and was not used

What it checks
    Of a run with the runtime's default kernels: whether XNNPACK took no operator, read from the runtime's own
    list of nodes, of a model with some that it takes by its own rules.

Why it matters
    Nothing says so: the runtime leaves XNNPACK out where it was built without it, or where it cannot be
    applied, and goes on with the plain kernels, often several times slower.

What to do
    See what the runtime printed, and try another version of it.

Limits
    The rules are those of the LiteRT version that outlive plans for; an older one takes less. tflite_runtime
    is left alone: its older versions use XNNPACK only where it is named.
"""

from outlive.arena.xnnpack.partition import expected_of_xnnpack
from outlive.model import Model
from outlive.process.flight import Flight
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import last_words
from outlive.rules.silent.s702_delegate_fell_back import BUILT_IN, node_evidence
from outlive.units import plural

# Old versions use XNNPACK only where it is named.
_WITHOUT = ("tflite_runtime",)
_TRY = Remedy(
    "see what each accelerator takes with the runtime that is installed here",
    Tag.SAME_RESULTS,
    command="outlive delegates FILE",
)


@rule("S710", "xnnpack-not-used", Severity.WARNING, since="0.1", cause="delegate-refused")
def xnnpack_not_used(flight: Flight, model: Model) -> Sightings:
    seen = flight.delegation
    if flight.died or seen is None or seen.asked != BUILT_IN or seen.taken or not seen.operators:
        return
    expected = expected_of_xnnpack(model)
    if expected is None or not expected.taken or flight.runtime.get("runtime") in _WITHOUT:
        return
    could = f"by its own rules it takes {len(expected.taken)} of {plural(seen.operators, 'operator')}"
    said = last_words(flight)
    printed = (Evidence(f"printed last: {said}", "standard error"),) if said else ()
    yield Sighting(
        where="the run",
        evidence=(node_evidence(seen)[0], Evidence(could, "XNNPACK's own rules"), *printed),
        why="the runtime was built without it, is older than these rules, or could not apply it",
        remedies=(_TRY,),
        confidence="certain that it was not used; why is not known",
        fault=Fault.RUNTIME,
    )
