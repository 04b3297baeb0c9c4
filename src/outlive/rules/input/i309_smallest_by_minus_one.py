"""Integer overflow: minimum divided by -1

What it checks
    Integers for FLOOR_MOD or DIV do not pair the smallest number of their type with the divisor -1.

Why it matters
    The result does not fit the type. The processor raises an arithmetic fault (SIGFPE on x86), and the
    process that runs the model dies.

What to do
    Clip the numbers to one above the minimum, or avoid the divisor -1.

Limits
    The rule follows unchanged values only, in the main subgraph. FLOOR_MOD crashes LiteRT; DIV crashes
    TensorFlow's interpreter (2.21) and returns a wrong number in LiteRT. FLOOR_DIV computes with floats
    and is exempt. Processors other than x86 return a wrong number instead of a fault.
"""

from outlive.model import Operator
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.feed import Feed
from outlive.rules.input.divisions import WIDE, divisions, pairs
from outlive.rules.wording import operator_name, operator_place
from outlive.units import plural

_DEADLY = ("DIV", "FLOOR_MOD")


@rule(
    "I309",
    "smallest-by-minus-one",
    Severity.ERROR,
    since="0.1",
    cause="int-min-divided-by-minus-one",
)
def smallest_by_minus_one(inputs: Feed) -> Sightings:
    for step, upper, lower in divisions(inputs, _DEADLY):
        smallest = WIDE[upper.dtype.name]
        count = pairs((upper == smallest), (lower == -1))
        if count:
            yield _sight(step, upper.dtype.name, smallest, count)


def _sight(step: Operator, dtype: str, smallest: int, count: int) -> Sighting:
    fact = f"{smallest} divided by -1 in {plural(count, 'position')}"
    return Sighting(
        where=operator_name(step),
        evidence=(
            Evidence(fact, "inputs"),
            Evidence(f"the result, {-smallest}, does not fit {dtype}", "type"),
        ),
        why="the processor raises an arithmetic fault for this division, as for a division by 0",
        remedies=(
            Remedy(
                "clip the dividend",
                Tag.CHANGES_RESULTS,
                command=f"value = np.maximum(value, {smallest + 1})",
            ),
        ),
        confidence="certain"
        if step.type == "FLOOR_MOD"
        else "likely; LiteRT's own kernel returns a wrong number",
        fault=Fault.INPUT,
        op=operator_place(step),
    )
