"""Segmentation fault in the runtime

What it checks
    The process did not end by SIGSEGV or SIGBUS.

Why it matters
    Native code followed an invalid index, size or pointer. In your own process, this is the crash
    without a message.

What to do
    Check the model and its inputs. If the stack names the kernels, try other ones. After SIGBUS, make
    sure that no program writes to the model file during the run.

Limits
    The signal alone does not name the byte of the model or input at fault.
"""

from outlive.process.flight import Flight
from outlive.rules.api import Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, is_function, is_null, other_kernels, place, recursion, witness
from outlive.rules.tensorflow_log import in_tensorflow

_CHECK = Remedy("check the file", Tag.SAME_RESULTS, command="outlive read FILE")
_OWN_COPY = Remedy(
    "pass the model as bytes, which no other program can change",
    Tag.SAME_RESULTS,
    command="Interpreter(model_content=open(FILE, 'rb').read())",
)

_ARGUMENTS = Remedy("check the shapes, indices and sizes that this op receives", Tag.CHANGES_RESULTS)


@rule("D504", "memory-fault", Severity.ERROR, since="0.1")
def memory_fault(flight: Flight) -> Sightings:
    if cause(flight) != "memory-fault":
        return
    cut = flight.signal == "SIGBUS"
    yield Sighting(
        headline=_headline(flight),
        value=_value(flight),
        where=place(flight),
        evidence=witness(flight),
        why=_why(flight),
        remedies=_remedies(flight, cut),
        confidence="likely" if cut else "certain",
        fault=Fault.FILE if cut else Fault.RUNTIME,
        cause="tf-out-of-bounds" if in_tensorflow(flight) and not cut else "",
    )


def _headline(flight: Flight) -> str:
    if not is_function(flight):
        return ""
    called = recursion(flight)
    return (
        f"Stack overflow: {called} calls itself without end"
        if called
        else "Segmentation fault in native code"
    )


def _value(flight: Flight) -> str:
    if is_function(flight) and recursion(flight):
        return ""
    inside = "" if flight.op is None else f" in {flight.op.type}"
    return f"{flight.signal}{inside}"


def _remedies(flight: Flight, cut: bool) -> tuple[Remedy, ...]:
    if is_function(flight):
        return (_ARGUMENTS,) if in_tensorflow(flight) else ()
    return (_OWN_COPY, _CHECK) if cut else (*other_kernels(flight), _CHECK)


def _why(flight: Flight) -> str:
    if flight.signal == "SIGBUS":
        return "another program truncated or overwrote a mapped file, usually the model, during the run"
    if recursion(flight):
        return "each call takes some of the thread's stack, until nothing is left of it"
    if is_null(flight):
        return "native code followed a null pointer, for example after a failed allocation"
    return "native code followed an invalid index, size or pointer"
