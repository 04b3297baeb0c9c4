"""the runtime ended the process itself

What it checks
    Whether the process ended by SIGABRT.

Why it matters
    Native code calls abort() when a check fails or the heap is found damaged; there is no exception to
    catch.

What to do
    Look at the function that called abort() and at what was printed last; together they usually tell
    which check it was. Then check the model: most such checks are about its numbers.

Limits
    A damaged heap is often noticed long after it was damaged, and in another place.
"""

from outlive.process.flight import Flight
from outlive.rules.api import Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, is_function, other_kernels, place, witness

# What the C library prints before it gives up on a heap: glibc, malloc/malloc.c.
_HEAP_WORDS = ("corrupted", "double free", "malloc():", "free():", "realloc():", "munmap_chunk()")


@rule("D505", "runtime-abort", Severity.ERROR, since="0.1")
def runtime_abort(flight: Flight) -> Sightings:
    if cause(flight) != "abort":
        return
    check = Remedy("check whether the file is sound", Tag.SAME_RESULTS, command="outlive read FILE")
    yield Sighting(
        headline="native code ended the process itself" if is_function(flight) else "",
        where=place(flight),
        evidence=witness(flight),
        why=_why(flight),
        remedies=() if is_function(flight) else (*other_kernels(flight), check),
        fault=Fault.RUNTIME,
    )


def _why(flight: Flight) -> str:
    printed = flight.stderr_tail
    if any(word in printed for word in _HEAP_WORDS):
        return "the heap was found damaged; what damaged it wrote past its memory earlier"
    if "terminate called" in printed:
        return "a C++ exception was thrown that nothing in the runtime catches"
    return "native code called abort(), as it does when one of its own checks fails"
