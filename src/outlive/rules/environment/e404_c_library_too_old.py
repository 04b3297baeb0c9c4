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

from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.environment.import_errors import missing_version, sight_absence


@rule("E404", "c-library-too-old", Severity.ERROR, since="0.1", cause="missing-runtime")
def c_library_too_old(absence: str) -> Sightings:
    wanted = missing_version(absence)
    if not wanted:
        return
    image = Remedy(
        "use a system or an image that is newer",
        Tag.SAME_RESULTS,
        command="docker run --rm -it -v .:/models python:3.12-slim bash",
    )
    older = Remedy(
        "or let pip choose a build for this system: it takes none that cannot be loaded",
        Tag.SAME_RESULTS,
        command="python -m pip install --only-binary :all: --force-reinstall ai-edge-litert",
    )
    why = "the package was built on a newer system than this one"
    yield sight_absence(absence, why, image, older, first=f"{wanted} is wanted and not there")
