"""the runtime refused to go on with the model

What it checks
    Whether the runtime raised an error in words; no process died.

Why it matters
    LiteRT's messages name a node and little else, and sometimes nothing.

What to do
    Read the message; the stage tells which call it was, and `outlive read FILE --graph` which operator is
    meant by a node number.

Limits
    The message is the runtime's own; only missing operators are recognised in it.
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
    said = [f"it said: {line}" for line in lines[:_LINES_SHOWN]] or ["it said nothing"]
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
        return "the model has operators of TensorFlow itself, which this runtime does not have"
    if _CUSTOM in text:
        return "the model has an operator of its own, and no code is registered for it"
    if not text.strip():
        return "a check of the runtime failed, and it has no words for which"
    return "a check of the runtime failed; what it said is all that is known"


def _remedy(text: str, runtime: str) -> Remedy:
    if _FLEX in text and runtime == "tensorflow":
        # The interpreter in the wheel of 2.21 finds no Flex delegate; the one of 2.18 does.
        action = "run it under a TensorFlow that has these operators built in, such as 2.18"
        command = "outlive run FILE --runtime tensorflow --python PATH"
    elif _FLEX in text:
        action, command = "run it with TensorFlow", "outlive run FILE --runtime tensorflow"
    elif _CUSTOM in text:
        action = "name the functions that register its operators"
        command = 'InterpreterWithCustomOps(["RegisterMyOps"], model_path=FILE)'
    elif "Node number" not in text:
        action, command = "check whether the file is sound", "outlive read FILE"
    else:
        action, command = "see which operator a node number means", "outlive read FILE --graph"
    return Remedy(action, Tag.SAME_RESULTS, command=command)
