"""a check inside the library failed, and it ended the process

What it checks
    Whether the process ended by SIGABRT after a line such as "Check failed: d < dims() (1 vs. 0)".

Why it matters
    TensorFlow tests what it is given with checks that end the whole process, where an exception would do.
    There is nothing to catch: the notebook, the training and all variables go with it.

What to do
    Read the condition: it usually names the shape, index or size that was refused. Test that before the
    call, or keep the call in outlive.guard, so that a bad value costs one call.

Limits
    The condition is in the words of the library's source; the op is known when its Python function was on
    the stack.
"""

from outlive.process.flight import Flight
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, native_stack, place, status
from outlive.rules.tensorflow_log import failed_check, running_op

_KINDS = {
    "tf-size-overflow": "a size that was asked for is too large to be counted",
    "tf-out-of-bounds": "an index lies outside of what it points into",
    "tf-check-failed": "what the op was given lacks the shape or value that its code takes for granted",
}


@rule("D513", "check-failed", Severity.ERROR, since="0.1")
def check_failed(flight: Flight) -> Sightings:
    if cause(flight) != "check-failed":
        return
    check = failed_check(flight)
    assert check is not None
    op = running_op(flight)
    values = Remedy(
        f"look at what {op or 'the op'} is given: shapes, ranks, indices, sizes", Tag.CHANGES_RESULTS
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
