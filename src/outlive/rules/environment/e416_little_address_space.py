"""Low limit on address space

What it checks
    The limit on address space (RLIMIT_AS, `ulimit -v`) leaves enough for a runtime.

Why it matters
    Libraries, thread stacks and mapped files reserve much more address space than they use. The limit
    counts reserved memory: a runtime may fail to load, or a small model fail to allocate, with memory
    to spare.

What to do
    Remove this limit, and limit used memory instead.

Limits
    The reserved size depends on the version of the runtime and the number of threads.
"""

from outlive.environment.surroundings import Surroundings
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.units import format_bytes

# LiteRT and numpy with a few threads reserve about 1 GiB, TensorFlow several.
_ENOUGH_BYTES = 4 << 30


@rule("E416", "little-address-space", Severity.WARNING, since="0.1", cause="out-of-memory")
def little_address_space(surroundings: Surroundings) -> Sightings:
    limit = surroundings.limits.get("AS")
    if limit is None or limit >= _ENOUGH_BYTES:
        return
    yield Sighting(
        where="RLIMIT_AS",
        evidence=(Evidence(f"at most {format_bytes(limit, limit)}", "resource limits"),),
        why="the limit counts reserved memory, used or not",
        remedies=(
            Remedy("remove the limit", Tag.SAME_RESULTS, command="ulimit -v unlimited"),
            Remedy(
                "limit used memory instead",
                Tag.SAME_RESULTS,
                command="outlive run FILE --memory 512MB",
            ),
        ),
        fault=Fault.MACHINE,
    )
