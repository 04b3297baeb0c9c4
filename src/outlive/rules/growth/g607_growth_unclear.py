"""whether it leaks is not clear yet

What it checks
    Whether the rounds that were measured allow neither verdict: the memory neither stays within a bound that
    is worth anything, nor grows steadily enough to be called a leak.

Why it matters
    A cache that is still filling, a heap that still settles and a leak look alike for some rounds; a verdict
    given too early is wrong half of the time.

What to do
    Repeat it more often, or give it more time.

Limits
    What goes up and down by hundreds of megabytes hides small leaks for thousands of rounds.
"""

from outlive.growth.growth import UNCLEAR, CycleGrowth, Growth
from outlive.rules.api import Evidence, Iterator, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.growth.culprits import fault, place
from outlive.units import format_bytes


@rule("G607", "growth-unclear", Severity.WARNING, since="0.1")
def growth_unclear(growth: Growth) -> Sightings:
    for stage in growth.stages:
        if stage.verdict == UNCLEAR and stage.calls:
            yield Sighting(
                where=place(growth, stage),
                evidence=tuple(_seen(stage)),
                why="growth that may still stop and growth that will not look alike so far",
                remedies=(
                    Remedy(f"repeat it more often: --repeat {max(100, 4 * stage.calls)}", Tag.SAME_RESULTS),
                ),
                confidence="no verdict",
                fault=fault(stage),
            )


def _seen(stage: CycleGrowth) -> Iterator[Evidence]:
    source = f"{stage.calls:,} rounds"
    if stage.problem:
        yield Evidence(f"it ended early: {stage.problem}", source)
    if stage.reason:
        yield Evidence(stage.reason, source)
    low, high = (format_bytes(round(value)) for value in (stage.low, stage.high))
    yield Evidence(f"between {low} and {high} per round (99 %)", stage.leading.replace("_", " "))
