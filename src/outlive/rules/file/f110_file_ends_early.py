"""Truncated file

What it checks
    Every table, vector, string and buffer that the file refers to lies inside it.

Why it matters
    An interrupted download starts like a valid model. The runtime maps the file without checks and
    reads past its end, which often ends in a segmentation fault.

What to do
    Compare the size with the source, and download the file again.

Limits
    A single damaged offset gives the same finding as a missing end. The evidence shows how far the
    references reach and how many of them there are.
"""

from outlive.model import Reading
from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.file.flaws import sight_flaws


@rule("F110", "file-ends-early", Severity.ERROR, since="0.1", cause="flatbuffer-corrupt")
def file_ends_early(file: Reading) -> Sightings:
    reach = max((flaw.reach or 0 for flaw in file.flaws if flaw.kind == "past-end"), default=0)
    why = f"the file has {file.file_bytes:,} bytes; its references reach to byte {reach:,}"
    again = Remedy("compare the size with the source, and download the file again", Tag.SAME_RESULTS)
    yield from sight_flaws(file, "past-end", why, (again,))
