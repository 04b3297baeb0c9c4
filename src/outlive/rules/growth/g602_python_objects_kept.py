"""Python objects are kept in every round

What it checks
    Whether memory grows by the same amount in every round together with Python objects that somebody still
    refers to: a list that is appended to, a cache without a bound, a closure, a default argument.

Why it matters
    The garbage collector frees only what nothing refers to. Tensors and arrays kept in a list are the most
    common way in which a notebook runs out of memory.

What to do
    Follow the chain of references in the finding to the variable that keeps the objects: empty it, give it
    a bound (collections.deque(maxlen=...), functools.lru_cache(maxsize=...)), or keep numbers, not tensors.

Limits
    An object's size is what Python knows of it; native memory that it owns is not in it. Of objects in a set
    any may be shown. References held by native code have no name.
"""

from outlive.growth.growth import CycleGrowth, Growth, Keeper
from outlive.rules.api import Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.growth.culprits import ends, fault, keeping, opaque_keepers, place, rate, stages_with


@rule("G602", "python-objects-kept", Severity.ERROR, since="0.1")
def python_objects_kept(growth: Growth) -> Sightings:
    for stage in stages_with(growth, "python"):
        keepers = _worst(stage)
        yield Sighting(
            where=place(growth, stage),
            evidence=(
                rate(stage),
                *keeping(keepers, stage.census.rounds if stage.census else 0),
                *ends(stage),
            ),
            why="an object that is referred to is not freed, nor is the memory that it owns",
            remedies=(_remedy(keepers),),
            confidence="certain" if keepers else "likely: objects became more, but which was not looked at",
            fault=fault(stage),
        )


def _worst(stage: CycleGrowth) -> list[Keeper]:
    """Who keeps most; without enough bytes, who keeps what may own memory. Boxes before types."""
    opaque = opaque_keepers(stage)
    keepers = list(stage.census.keepers) if stage.census else []
    keepers.sort(key=lambda keeper: (not keeper.container, keeper not in opaque, -keeper.bytes_per_round))
    boxed = [keeper for keeper in keepers if keeper.container]
    most = max((keeper.bytes_per_round for keeper in boxed), default=0.0)
    shown = [keeper for keeper in boxed if keeper in opaque or keeper.bytes_per_round >= most / 4]
    return shown[:2] or keepers[:2]


def _remedy(keepers: list[Keeper]) -> Remedy:
    if not keepers or not keepers[0].kept_by:
        return Remedy("look for what refers to objects of earlier rounds", Tag.SAME_RESULTS)
    outermost = keepers[0].kept_by[0]
    return Remedy(
        f"empty or bound what keeps them ({outermost}), or keep numbers instead",
        Tag.SAME_RESULTS,
        effect=f"{keepers[0].per_round:.3g} {keepers[0].kind} per round less",
    )
