"""The runtime aborted

What it checks
    The process did not end by SIGABRT.

Why it matters
    Native code calls abort() when a check fails or the heap is corrupt. Python cannot catch it.

What to do
    Read the function that called abort() and the last output: together they usually identify the check.
    Then check the model: most of these checks are about its numbers.

Limits
    Heap corruption is often detected long after it happened, and in another place.
"""

from outlive.process.flight import Flight
from outlive.rules.api import Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, is_function, last_words, other_kernels, place, witness

# What the C library prints before it gives up on a heap: glibc, malloc/malloc.c.
_HEAP_WORDS = ("corrupted", "double free", "malloc():", "free():", "realloc():", "munmap_chunk()")


@rule("D505", "runtime-abort", Severity.ERROR, since="0.1")
def runtime_abort(flight: Flight) -> Sightings:
    if cause(flight) != "abort":
        return
    check = Remedy("check the file", Tag.SAME_RESULTS, command="outlive read FILE")
    yield Sighting(
        headline="Native code aborted" if is_function(flight) else "",
        value=", ".join(filter(None, ("SIGABRT", last_words(flight)[:100]))),
        where=place(flight),
        evidence=witness(flight),
        why=_why(flight),
        remedies=() if is_function(flight) else (*other_kernels(flight), check),
        fault=Fault.RUNTIME,
    )


def _why(flight: Flight) -> str:
    printed = flight.stderr_tail
    if any(word in printed for word in _HEAP_WORDS):
        return "the heap is corrupt: earlier code wrote past its memory"
    if "terminate called" in printed:
        return "the runtime did not catch a C++ exception"
    return "native code called abort(), usually after a failed check"
