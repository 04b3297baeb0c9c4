"""the system's C library is older than the runtime needs

What it checks
    The text of the import that failed, for a version of the C or C++ library that the loader did not find.

Why it matters
    The package was built on a newer system. No other build of the same version will load either, and the C
    library cannot be exchanged alone.

What to do
    Use a newer system or container image, or an older version of the runtime.

Limits
    Which older version would do is not known.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Evidence, Fault, Remedy, Severity, Sighting, Tag
from outlive.rules.engine import rule
from outlive.rules.environment.import_words import missing_version


@rule("E404", "c-library-too-old", Severity.ERROR, since="0.1", cause="missing-runtime")
def c_library_too_old(absence: str) -> Iterator[Sighting]:
    """See the module."""
    wanted = missing_version(absence)
    if not wanted:
        return
    image = Remedy(
        action="use a system or an image that is newer",
        tag=Tag.SAME_RESULTS,
        command="docker run --rm -it -v .:/models python:3.12-slim bash",
    )
    older = Remedy(
        action="or let pip choose a build for this system: it takes none that cannot be loaded",
        tag=Tag.SAME_RESULTS,
        command="python -m pip install --only-binary :all: --force-reinstall ai-edge-litert",
    )
    yield Sighting(
        where="worker",
        evidence=(
            Evidence(fact=f"{wanted} is wanted and not there", source="loader"),
            Evidence(fact=absence, source="import"),
        ),
        why="the package was built on a newer system than this one",
        remedies=(image, older),
        fault=Fault.MACHINE,
    )
