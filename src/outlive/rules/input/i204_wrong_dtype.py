"""Wrong input type

What it checks
    The given type equals the expected type.

Why it matters
    The runtime refuses floats for an integer model, or 64-bit numbers for a 32-bit one. A plain cast
    may change the meaning of the values.

What to do
    Convert the array. If the model is quantized, divide by the scale, add the zero point, round and
    clip.

Limits
    Whether a plain cast is right depends on the meaning of the numbers. Scale and zero point are those
    that the interpreter reports; a scale of 0 means that the input is not quantized.
"""

from outlive.interpreter.judge import Call
from outlive.rules.api import Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.calls import tensor_place, wanted_and_given

# What quantized inputs are stored as.
_QUANTIZED = ("int8", "uint8", "int16")


@rule("I204", "wrong-dtype", Severity.ERROR, since="0.1", cause="wrong-dtype")
def wrong_dtype(call: Call) -> Sightings:
    if call.problem != "wrong-dtype":
        return
    given = call.given_dtype.partition(",")[0]
    yield Sighting(
        value=f"{given}, expected {call.wanted_dtype}",
        where=tensor_place(call, "input"),
        evidence=wanted_and_given(call),
        why="the runtime does not convert types",
        remedies=(_remedy(call, given),),
        fault=Fault.INPUT,
    )


def _remedy(call: Call, given: str) -> Remedy:
    wanted = call.wanted_dtype
    cast = f'value = value.astype("{wanted}")'
    if "float" in given and wanted in _QUANTIZED:
        command = f"value = interpreter.quantize_input({call.index}, value)"
        return _cast("quantize the array with the input's scale and zero point", command)
    if (given, wanted) == ("uint8", "int8"):
        shift = 'value = (value.astype("int16") - 128).astype("int8")'
        return _cast("subtract 128, if these are pixels and the zero point is -128; a cast overflows", shift)
    if "float" in wanted and "int" in given:
        return _cast("convert the array, then scale it as in training (0 to 1, or -1 to 1)", cast)
    if "int" in wanted and "float" in given:
        return _cast("convert the array if its values are integers; a cast drops fractions", cast)
    if wanted in ("int8", "uint8", "int16", "int32", "uint16", "uint32"):
        return _cast(f"convert the array if its values fit {wanted}; a cast overflows", cast)
    return _cast("convert the array", cast)


def _cast(action: str, command: str) -> Remedy:
    return Remedy(action, Tag.SAME_RESULTS, command=command)
