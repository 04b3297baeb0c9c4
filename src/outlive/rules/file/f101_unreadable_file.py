"""Cannot open the file

What it checks
    The path exists, is a regular file, and this user may read it.

Why it matters
    The runtime reports only "Could not open".

What to do
    Correct the path, or change the permissions. The finding lists models in the same folder.

Limits
    The finding repeats the operating system's answer. A file on a network share may become readable a
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
    detail = "no such file" if listing else file.identity.detail or "no such file"
    evidence = [Evidence(detail, "operating system")]
    action = "check the path" if detail == "no such file" else "check the path and the permissions"
    if listing:
        evidence.append(Evidence(file.identity.detail, "folder listing"))
        action = f"check the path; {file.identity.detail}"
    yield Sighting(
        headline="File not found" if detail == "no such file" else "",
        value=file_name(file.path) if detail == "no such file" else f"{file_name(file.path)} ({detail})",
        where=file_name(file.path),
        evidence=tuple(evidence),
        remedies=(Remedy(action, Tag.SAME_RESULTS),),
        fault=Fault.INPUT,
    )
