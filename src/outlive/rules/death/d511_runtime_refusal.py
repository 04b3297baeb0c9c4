"""The runtime refused the model

What it checks
    The runtime raised no error. No process died.

Why it matters
    LiteRT's messages often name only a node, and sometimes nothing.

What to do
    Read the message. The stage names the call, and `outlive read FILE --graph` shows the operator with
    that node number.

Limits
    The message is the runtime's own. outlive recognizes only missing operators in it.
"""

from outlive.process.flight import Flight
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, memory, place

_LINES_SHOWN = 4
# LiteRT, tflite/core/subgraph.cc: what it says of operators that are not registered.
_FLEX, _CUSTOM = "Select TensorFlow op(s)", "unresolved custom op"


@rule("D511", "runtime-refusal", Severity.ERROR, since="0.1")
def runtime_refusal(flight: Flight) -> Sightings:
    if cause(flight) != "refusal":
        return
    lines = [line.strip() for line in flight.error_text.splitlines() if line.strip()]
    said = list(lines[:_LINES_SHOWN]) or ["no error message"]
    words = tuple(Evidence(fact, flight.error_type) for fact in said)
    yield Sighting(
        where=place(flight),
        evidence=(*words, *memory(flight)),
        why=_why(flight.error_text),
        remedies=(_remedy(flight.error_text, str(flight.runtime.get("runtime"))),),
        fault=Fault.RUNTIME,
    )


def _why(text: str) -> str:
    if _FLEX in text:
        return "the model has TensorFlow operators, which this runtime does not support"
    if _CUSTOM in text:
        return "the model has a custom operator, and no kernel is registered for it"
    if not text.strip():
        return "a check of the runtime failed without a message"
    return "a check of the runtime failed"


def _remedy(text: str, runtime: str) -> Remedy:
    if _FLEX in text and runtime == "tensorflow":
        # The interpreter in the wheel of 2.21 finds no Flex delegate; the one of 2.18 does.
        action = "run it with a TensorFlow that includes these operators, such as 2.18"
        command = "outlive run FILE --runtime tensorflow --python PATH"
    elif _FLEX in text:
        action, command = "run it with TensorFlow", "outlive run FILE --runtime tensorflow"
    elif _CUSTOM in text:
        action = "name the functions that register the operators"
        command = 'InterpreterWithCustomOps(["RegisterMyOps"], model_path=FILE)'
    elif "Node number" not in text:
        action, command = "check the file", "outlive read FILE"
    else:
        action, command = "find the operator with this node number", "outlive read FILE --graph"
    return Remedy(action, Tag.SAME_RESULTS, command=command)
