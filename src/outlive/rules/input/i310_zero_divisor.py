"""integers are to be divided by a given 0

What it checks
    Whether integers given to the model are the divisor of DIV, FLOOR_DIV or FLOOR_MOD and hold a 0.

Why it matters
    LiteRT ends the run with an error; kernels that do not look die of an arithmetic fault.

What to do
    Keep 0 out of the divisors.

Limits
    Only values that reach the operator unchanged are followed, in the main subgraph. Division of floats by
    0 is not looked at: it gives an infinity.
"""

from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.feed import Feed
from outlive.rules.input.divisions import divisors
from outlive.rules.wording import operator_name, operator_place


@rule("I310", "zero-divisor", Severity.ERROR, since="0.1")
def zero_divisor(inputs: Feed) -> Sightings:
    for step, given in divisors(inputs):
        zeros = int((given.array == 0).sum())
        if not zeros:
            continue
        fact = f"{zeros:,} of {given.seen.size:,} divisors are 0"
        yield Sighting(
            where=given.place,
            evidence=(
                Evidence(fact, "inputs"),
                Evidence(f"{operator_name(step)} divides by them", "model"),
                given.evidence,
            ),
            why="integers cannot be divided by 0",
            remedies=(Remedy("keep 0 out of the divisors", Tag.CHANGES_RESULTS),),
            fault=Fault.INPUT,
            op=operator_place(step),
        )
