"""Output not written

What it checks
    With --watch-outputs, outlive runs the model twice in memory filled with different bytes. The model
    overwrites all bytes of each output.

Why it matters
    The failure is silent: the output has its shape, and holds values of an earlier run or of another
    part of the program. Detection models do this if they find fewer objects than the output can hold.

What to do
    Read only the valid part, such as the number of detections in another output. If there is no such
    number, the operator behind this output is broken, or did not run.

Limits
    The finding holds for the inputs of this run: others may fill more. Strings and outputs of random
    numbers are exempt. outlive can fill memory on Linux with glibc only.
"""

from math import prod

from outlive.process.flight import Flight, OutputSeen
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.units import format_shape

_SHOWN = 5
_READ_LESS = Remedy(
    "read only the valid part, such as the first N rows of a count in another output",
    Tag.CHANGES_RESULTS,
)
_OTHER_VALUES = Remedy(
    "run the model on real inputs, and check again",
    Tag.SAME_RESULTS,
    command="outlive run FILE --watch-outputs --input NAME=values.npy",
)


@rule("S701", "output-never-written", Severity.WARNING, since="0.1")
def output_never_written(flight: Flight) -> Sightings:
    found = [output for output in flight.outputs if output.untouched_bytes and not flight.died]
    if not found:
        return
    others = f" and {len(found) - 1} more" if len(found) > 1 else ""
    facts = [_fact(output) for output in found[:_SHOWN]]
    yield Sighting(
        where=f'output "{found[0].name}", tensor {found[0].index}{others}',
        evidence=tuple(Evidence(fact, "two runs in filled memory") for fact in facts),
        why="no operator wrote it, and it contains old data",
        remedies=(_READ_LESS, _OTHER_VALUES),
        fault=Fault.RUNTIME,
    )


def _fact(output: OutputSeen) -> str:
    left, size = output.untouched_bytes or 0, prod(output.shape) * _size(output.dtype)
    share = "all" if left >= size else f"{left:,} of"
    kind = f"{format_shape(output.shape)} {output.dtype}"
    return f'"{output.name}", {kind}: {share} {size:,} bytes unchanged'


def _size(dtype: str) -> int:
    """Bytes of a number of this type; its name ends with its bits, but for bool."""
    digits = "".join(letter for letter in dtype if letter.isdigit())
    return int(digits) // 8 if digits else 1
