"""XNNPACK was not used

What it checks
    In a run with the default kernels, XNNPACK took at least one of the operators that it supports, by
    the runtime's own list of nodes.

Why it matters
    The fallback is silent: a runtime without XNNPACK, or one that cannot apply it, uses the builtin
    kernels, often several times slower.

What to do
    Read the runtime's output, and try another version.

Limits
    The rule uses the LiteRT version that outlive plans for. An older version supports fewer operators.
    tflite_runtime is exempt: its older versions use XNNPACK only on request.
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
    "check which accelerators work with the installed runtime",
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
    could = f"XNNPACK supports {len(expected.taken)} of {plural(seen.operators, 'operator')}"
    said = last_words(flight)
    printed = (Evidence(f"last output: {said}", "standard error"),) if said else ()
    yield Sighting(
        where="the run",
        evidence=(node_evidence(seen)[0], Evidence(could, "XNNPACK's own rules"), *printed),
        why="the runtime was built without XNNPACK, is too old, or could not apply it",
        remedies=(_TRY,),
        confidence="certain that XNNPACK was not used; the reason is unknown",
        fault=Fault.RUNTIME,
    )
