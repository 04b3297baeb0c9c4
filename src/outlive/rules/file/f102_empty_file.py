"""the file is empty

What it checks
    That the file has at least one byte.

Why it matters
    A download or a conversion that failed often leaves an empty file behind; the runtime reports it as
    a broken model.

What to do
    Fetch or convert the model again, and look at what that step prints.

Limits
    It cannot tell why the file is empty.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Evidence, Remedy, Severity, Sighting, Tag
from outlive.model import Reading
from outlive.rules.engine import rule
from outlive.rules.telling import file_name


@rule("F102", "empty-file", Severity.ERROR, since="0.1", cause="flatbuffer-corrupt")
def empty_file(file: Reading) -> Iterator[Sighting]:
    """See the module."""
    if file.identity.kind != "empty":
        return
    yield Sighting(
        where=file_name(file.path),
        evidence=(Evidence(fact="the file has 0 bytes", source="file size"),),
        why="whatever should have written the model did not",
        remedies=(Remedy(action="download or convert the model again", tag=Tag.SAME_RESULTS),),
    )
