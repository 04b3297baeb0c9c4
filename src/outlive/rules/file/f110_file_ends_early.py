"""the file ends before the data it refers to

What it checks
    That every table, vector, text and buffer the file refers to lies inside it.

Why it matters
    A download that stopped early looks just like a model at its start. The runtime maps such a file
    without checking and reads past its end: it is a classic way to a segmentation fault.

What to do
    Compare the size with the source and fetch the file again.

Limits
    A single damaged offset gives the same finding as a missing end; the evidence shows how far the
    references reach and how many there are.
"""

from outlive.model import Reading
from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.file.flaws import sight_flaws


@rule("F110", "file-ends-early", Severity.ERROR, since="0.1", cause="flatbuffer-corrupt")
def file_ends_early(file: Reading) -> Sightings:
    reach = max((flaw.reach or 0 for flaw in file.flaws if flaw.kind == "past-end"), default=0)
    why = f"the file has {file.file_bytes:,} bytes, but its references reach to byte {reach:,}"
    again = Remedy("compare its size with the source and fetch it again", Tag.SAME_RESULTS)
    yield from sight_flaws(file, "past-end", why, (again,))
