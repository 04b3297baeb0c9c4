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

from __future__ import annotations

from collections.abc import Iterator

from outlive.environment.surroundings import Surroundings
from outlive.finding import Evidence, Fault, Remedy, Severity, Sighting, Tag
from outlive.rules.engine import rule
from outlive.units import format_bytes

# LiteRT and numpy with a few threads reserve about 1 GiB, TensorFlow several.
_ENOUGH_BYTES = 4 << 30


@rule("E416", "little-address-space", Severity.WARNING, since="0.1", cause="out-of-memory")
def little_address_space(surroundings: Surroundings) -> Iterator[Sighting]:
    """See the module."""
    limit = surroundings.limits.get("AS")
    if limit is None or limit >= _ENOUGH_BYTES:
        return
    yield Sighting(
        where="RLIMIT_AS",
        evidence=(Evidence(fact=f"at most {format_bytes(limit)} may be reserved", source="resource limits"),),
        why="what is reserved and never used counts too",
        remedies=(
            Remedy(action="lift the limit", tag=Tag.SAME_RESULTS, command="ulimit -v unlimited"),
            Remedy(
                action="limit what the model uses instead",
                tag=Tag.SAME_RESULTS,
                command="outlive run FILE --memory 512MB",
            ),
        ),
        fault=Fault.MACHINE,
    )
