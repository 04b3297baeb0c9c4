"""the runtime touched memory that it does not have

What it checks
    Whether the process ended by SIGSEGV or SIGBUS.

Why it matters
    Native code followed a wrong index, size or pointer: in your own process this is the crash without a
    message.

What to do
    Check the model and its inputs; try other kernels where the stack shows which ones were at work. After
    SIGBUS, make sure that no program writes to the model file while it is in use.

Limits
    Which byte of the model or of the input is to blame cannot be learned from the signal alone.
"""

from outlive.process.flight import Flight
from outlive.rules.api import Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, is_function, is_null, other_kernels, place, witness
from outlive.rules.tensorflow_log import in_tensorflow

_CHECK = Remedy("check whether the file is sound", Tag.SAME_RESULTS, command="outlive read FILE")
_OWN_COPY = Remedy(
    "give the model as bytes, which no other program can change",
    Tag.SAME_RESULTS,
    command="Interpreter(model_content=open(FILE, 'rb').read())",
)

_ARGUMENTS = Remedy("look at the shapes, indices and sizes that this op is given", Tag.CHANGES_RESULTS)


@rule("D504", "memory-fault", Severity.ERROR, since="0.1")
def memory_fault(flight: Flight) -> Sightings:
    if cause(flight) != "memory-fault":
        return
    cut = flight.signal == "SIGBUS"
    yield Sighting(
        headline="native code touched memory that it does not have" if is_function(flight) else "",
        where=place(flight),
        evidence=witness(flight),
        why=_why(flight),
        remedies=_remedies(flight, cut),
        confidence="likely" if cut else "certain",
        fault=Fault.FILE if cut else Fault.RUNTIME,
        cause="tf-out-of-bounds" if in_tensorflow(flight) and not cut else "",
    )


def _remedies(flight: Flight, cut: bool) -> tuple[Remedy, ...]:
    if is_function(flight):
        return (_ARGUMENTS,) if in_tensorflow(flight) else ()
    return (_OWN_COPY, _CHECK) if cut else (*other_kernels(flight), _CHECK)


def _why(flight: Flight) -> str:
    if flight.signal == "SIGBUS":
        return "a mapped file, most often the model, was made shorter or overwritten while it was in use"
    if is_null(flight):
        return (
            "native code followed a null pointer: what it needs, such as memory it asked for, was not there"
        )
    return "native code followed an index, size or pointer that is wrong, and it did not check"
