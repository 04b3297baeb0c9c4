"""the file changed while it was being read

What it checks
    That the file is the same from the moment it is opened to the last byte that is read of it: its
    length, when it was last written, and that no other file has taken its place.

Why it matters
    Of a file that another program writes to, one part may be old and another new: whatever is said about
    it may hold for neither. A program that maps such a file is ended by SIGBUS when it is cut short.

What to do
    Wait until it is written, and try again. Who writes models should write to another name and rename
    the file when it is whole. Give the bytes instead of the path, if the file will not keep still.

Limits
    Weights are read when they are asked for, so this may be found long after the model was opened. A
    program that sets the time of the last write back goes unnoticed.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Evidence, Fault, Remedy, Severity, Sighting, Tag
from outlive.model import Reading
from outlive.rules.engine import rule
from outlive.rules.telling import file_name


@rule("F124", "file-changed", Severity.ERROR, since="0.1")
def file_changed(file: Reading) -> Iterator[Sighting]:
    """See the module."""
    if file.identity.kind != "changed":
        return
    yield Sighting(
        where=file_name(file.path),
        evidence=(Evidence(fact=file.identity.detail, source="operating system"),),
        why="another program writes to the file, so that one part of it may be old and another new",
        remedies=(
            Remedy(action="wait until it is written, and read it again", tag=Tag.SAME_RESULTS),
            Remedy(action="write to another name and rename the file when it is whole", tag=Tag.SAME_RESULTS),
        ),
        fault=Fault.INPUT,
    )
