"""the smallest integer is to be divided by -1

What it checks
    Whether integers given to FLOOR_MOD or DIV hold, in the same place, the smallest number of their type
    and the divisor -1.

Why it matters
    The result does not fit into the type. The processor raises an arithmetic fault (SIGFPE on x86), and the
    process that runs the model dies.

What to do
    Clip the numbers to one more than the smallest, or do without the divisor -1.

Limits
    Only values that reach the operator unchanged are followed, in the main subgraph. FLOOR_MOD dies in
    LiteRT; DIV dies in TensorFlow's interpreter (2.21), and gives a wrong number in LiteRT. FLOOR_DIV
    computes with floats and is left alone. Other processors than x86 give a wrong number instead of a
    fault.
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
    fact = f"{smallest} is divided by -1 in {plural(count, 'place')}"
    return Sighting(
        where=operator_name(step),
        evidence=(
            Evidence(fact, "inputs"),
            Evidence(f"the result, {-smallest}, does not fit into {dtype}", "type"),
        ),
        why="this is the one division, beside that by 0, that a processor refuses",
        remedies=(
            Remedy(
                "clip what is divided",
                Tag.CHANGES_RESULTS,
                command=f"value = np.maximum(value, {smallest + 1})",
            ),
        ),
        confidence="certain"
        if step.type == "FLOOR_MOD"
        else "likely: LiteRT's own kernel gives a wrong number",
        fault=Fault.INPUT,
        op=operator_place(step),
    )
