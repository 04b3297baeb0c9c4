"""Check failed inside the library

What it checks
    The process did not end by SIGABRT after a line such as "Check failed: d < dims() (1 vs. 0)".

Why it matters
    TensorFlow validates arguments with checks that end the whole process. Python cannot catch them: the
    notebook, the training and all variables are lost.

What to do
    Read the condition: it usually names the invalid shape, index or size. Validate it before the call,
    or make the call in outlive.guard to lose only that call.

Limits
    The condition is in the terms of the library's source. The op is known if its Python function was on
    the stack.
"""

from outlive.process.flight import Flight
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, native_stack, place, status
from outlive.rules.tensorflow_log import failed_check, running_op

_KINDS = {
    "tf-size-overflow": "a requested size overflows",
    "tf-out-of-bounds": "an index is out of range",
    "tf-check-failed": "the op received a shape or value that it does not support",
}


@rule("D513", "check-failed", Severity.ERROR, since="0.1")
def check_failed(flight: Flight) -> Sightings:
    if cause(flight) != "check-failed":
        return
    check = failed_check(flight)
    assert check is not None
    op = running_op(flight)
    values = Remedy(
        f"check the arguments of {op or 'the op'}: shapes, ranks, indices, sizes", Tag.CHANGES_RESULTS
    )
    yield Sighting(
        where=place(flight),
        evidence=(
            Evidence(f"{check.text} ({check.file}, line {check.line})", "standard error"),
            status(flight),
            *native_stack(flight),
        ),
        why=_KINDS[check.cause],
        remedies=(values,),
        fault=Fault.INPUT,
        cause=check.cause,
    )
