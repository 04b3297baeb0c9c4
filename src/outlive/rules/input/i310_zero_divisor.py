"""Division by zero in the input

What it checks
    Integers that are the divisor of DIV, FLOOR_DIV or FLOOR_MOD contain no 0.

Why it matters
    LiteRT ends the run with an error. Kernels without the check die of an arithmetic fault.

What to do
    Remove 0 from the divisors.

Limits
    The rule follows unchanged values only, in the main subgraph. Float division by 0 gives infinity,
    and is not checked.
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
            why="an integer division by 0 has no result",
            remedies=(Remedy("remove 0 from the divisors", Tag.CHANGES_RESULTS),),
            fault=Fault.INPUT,
            op=operator_place(step),
        )
