"""The system's C library is too old

What it checks
    The import error does not name a missing version of the C or C++ library.

Why it matters
    The package was built on a newer system. No other build of that version will load, and you cannot
    replace the C library alone.

What to do
    Use a newer system or container image, or an older version of the runtime.

Limits
    outlive does not know which older version works.
"""

from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.environment.import_errors import missing_version, sight_absence


@rule("E404", "c-library-too-old", Severity.ERROR, since="0.1", cause="missing-runtime")
def c_library_too_old(absence: str) -> Sightings:
    wanted = missing_version(absence)
    if not wanted:
        return
    image = Remedy(
        "use a newer system or container image",
        Tag.SAME_RESULTS,
        command="docker run --rm -it -v .:/models python:3.12-slim bash",
    )
    older = Remedy(
        "install the newest build that this system can load",
        Tag.SAME_RESULTS,
        command="python -m pip install --only-binary :all: --force-reinstall ai-edge-litert",
    )
    why = "the package was built on a newer system"
    yield sight_absence(absence, why, image, older, first=f"{wanted} required")
