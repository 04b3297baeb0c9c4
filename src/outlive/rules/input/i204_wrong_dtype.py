"""the input is of another type than the model wants

What it checks
    Whether types are equal.

Why it matters
    Floats given to an integer model, or 64-bit numbers to a 32-bit one: the runtime refuses them, and a
    cast may change what they mean.

What to do
    Convert the value. Where the model is quantized, its scale and zero point apply: divide by the scale,
    add the zero point, round, clip.

Limits
    Whether a plain cast is right depends on what the numbers mean. Scale and zero point are those that the
    interpreter tells; a scale of 0 says that the input is not quantized.
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
        where=tensor_place(call, "input"),
        evidence=wanted_and_given(call),
        why="numbers of one type are not read as another",
        remedies=(_remedy(call, given),),
        fault=Fault.INPUT,
    )


def _remedy(call: Call, given: str) -> Remedy:
    wanted = call.wanted_dtype
    cast = f'value = value.astype("{wanted}")'
    if "float" in given and wanted in _QUANTIZED:
        command = f"value = interpreter.quantize_input({call.index}, value)"
        return _cast("quantize it: the model's scale and zero point apply", command)
    if (given, wanted) == ("uint8", "int8"):
        shift = 'value = (value.astype("int16") - 128).astype("int8")'
        return _cast("shift it by 128, if these are pixels and the zero point is -128; a cast wraps", shift)
    if "float" in wanted and "int" in given:
        return _cast("convert it, then scale it as the model saw it in training (0 to 1, -1 to 1)", cast)
    if "int" in wanted and "float" in given:
        return _cast("convert it, if its numbers are whole: a cast cuts off fractions", cast)
    if wanted in ("int8", "uint8", "int16", "int32", "uint16", "uint32"):
        return _cast(f"convert it, if its numbers fit into {wanted}: a cast wraps those that do not", cast)
    return _cast("convert it", cast)


def _cast(action: str, command: str) -> Remedy:
    return Remedy(action, Tag.SAME_RESULTS, command=command)
