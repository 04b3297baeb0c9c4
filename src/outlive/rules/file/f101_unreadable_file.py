"""the file cannot be opened

What it checks
    That the path exists, is a regular file, and may be read by this user.

Why it matters
    Nothing can be said about a model that cannot be opened; the runtime would only say 'Could not
    open'.

What to do
    Correct the path, or give yourself the right to read it. Models in the same folder are listed as a
    hint.

Limits
    It says what the operating system says; a file on a share that comes and goes may be readable a
    moment later.
"""

from outlive.model import Reading
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.wording import file_name


@rule("F101", "unreadable-file", Severity.ERROR, since="0.1")
def unreadable_file(file: Reading) -> Sightings:
    if file.identity.kind != "unreadable":
        return
    listing = file.identity.detail.startswith("the folder")
    detail = (
        "there is no file of that name"
        if listing
        else file.identity.detail or "there is no file of that name"
    )
    evidence = [Evidence(detail, "operating system")]
    if listing:
        evidence.append(Evidence(file.identity.detail, "folder listing"))
    yield Sighting(
        where=file_name(file.path),
        evidence=tuple(evidence),
        why="the path leads to nothing that can be read as a file",
        remedies=(Remedy("check the path and the permissions", Tag.SAME_RESULTS),),
        fault=Fault.INPUT,
    )
