"""Not enough rounds to detect a leak

What it checks
    The measured rounds allow a verdict: memory stays within a useful bound, or grows steadily.

Why it matters
    A cache that fills, a heap that settles and a leak look the same for some rounds. An early verdict
    is often wrong.

What to do
    Repeat more rounds, or allow more time.

Limits
    Memory that fluctuates by hundreds of megabytes hides small leaks for thousands of rounds.
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
                why="temporary growth and a leak look the same for some rounds",
                remedies=(
                    Remedy(f"repeat more rounds: --repeat {max(100, 4 * stage.calls)}", Tag.SAME_RESULTS),
                ),
                confidence="no verdict",
                fault=fault(stage),
            )


def _seen(stage: CycleGrowth) -> Iterator[Evidence]:
    source = f"{stage.calls:,} rounds"
    if stage.problem:
        yield Evidence(f"ended early: {stage.problem}", source)
    if stage.reason:
        yield Evidence(stage.reason, source)
    low, high = (format_bytes(round(value)) for value in (stage.low, stage.high))
    yield Evidence(f"between {low} and {high} per round (99 %)", stage.leading.replace("_", " "))
