"""the input has its bytes in the order of another machine

What it checks
    Whether the numbers are stored in this machine's byte order.

Why it matters
    LiteRT copies the bytes as they are and computes with numbers that make no sense, in silence.

What to do
    Convert the array to the native byte order. Arrays read from files (FITS, IDX, np.fromfile with '>f4')
    often have the other one.

Limits
    None known.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Fault, Remedy, Severity, Sighting, Tag
from outlive.interpreter.judge import Call
from outlive.rules.engine import rule
from outlive.rules.witness import tensor_place, wanted_and_given


@rule("I205", "swapped-bytes", Severity.ERROR, since="0.1", cause="wrong-dtype")
def swapped_bytes(call: Call) -> Iterator[Sighting]:
    """See the module."""
    if call.problem != "byte-order":
        return
    yield Sighting(
        where=tensor_place(call, "input"),
        evidence=wanted_and_given(call),
        why="the runtime takes the bytes as they are, so it would compute with other numbers",
        remedies=(
            Remedy(
                action="convert it to this machine's byte order",
                tag=Tag.SAME_RESULTS,
                command="value = value.astype(value.dtype.newbyteorder('='))",
            ),
        ),
        fault=Fault.INPUT,
    )
