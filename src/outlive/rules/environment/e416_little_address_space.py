"""the address space is limited to less than runtimes reserve

What it checks
    The limit on address space (RLIMIT_AS, `ulimit -v`).

Why it matters
    Libraries, thread stacks and mapped files reserve much more than they use, and this limit counts what is
    reserved: a runtime may not load, or a small model fail to allocate, with memory to spare.

What to do
    Lift this limit, and limit the memory that is used instead.

Limits
    How much a runtime reserves depends on its version and the number of threads.
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
        evidence=(Evidence(f"at most {format_bytes(limit)} may be reserved", "resource limits"),),
        why="what is reserved and never used counts too",
        remedies=(
            Remedy("lift the limit", Tag.SAME_RESULTS, command="ulimit -v unlimited"),
            Remedy(
                "limit what the model uses instead",
                Tag.SAME_RESULTS,
                command="outlive run FILE --memory 512MB",
            ),
        ),
        fault=Fault.MACHINE,
    )
