"""Python objects pile up

What it checks
    Memory does not grow by the same amount in every round together with referenced Python objects: a
    list that is appended to, an unbounded cache, a closure, a default argument.

Why it matters
    The garbage collector frees only unreferenced objects. Tensors and arrays in a list are the most
    common reason why a notebook runs out of memory.

What to do
    Follow the reference chain in the finding to the variable that keeps the objects. Clear it, bound it
    (collections.deque(maxlen=...), functools.lru_cache(maxsize=...)), or keep numbers instead of
    tensors.

Limits
    Object sizes are Python's own and exclude native memory. For objects in a set, the finding may name
    any of them. References from native code have no name.
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
            why="Python does not free referenced objects, nor the memory that they own",
            remedies=(_remedy(keepers),),
            confidence="certain" if keepers else "likely; which objects was not examined",
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
        return Remedy("find the references to objects of earlier rounds", Tag.SAME_RESULTS)
    outermost = keepers[0].kept_by[0]
    return Remedy(
        f"clear or limit {outermost}, or keep numbers instead",
        Tag.SAME_RESULTS,
        effect=f"{keepers[0].per_round:.3g} {keepers[0].kind} fewer per round",
    )
