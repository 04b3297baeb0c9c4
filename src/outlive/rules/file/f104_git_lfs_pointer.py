"""the file is a Git LFS pointer, not the model it points to

What it checks
    Whether the file is the three lines of text that Git LFS leaves in place of a large file.

Why it matters
    A clone without Git LFS gives pointers; the runtime then says the model has the wrong identifier.

What to do
    Fetch the real file with git lfs pull.

Limits
    None known: the first line of a pointer is fixed by the Git LFS specification.
"""

import os

from outlive.model import Reading
from outlive.rules.api import Evidence, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.wording import command, file_name


@rule("F104", "git-lfs-pointer", Severity.ERROR, since="0.1")
def git_lfs_pointer(file: Reading) -> Sightings:
    if file.identity.kind != "git-lfs-pointer":
        return
    real = (
        f"the model itself has {file.identity.detail} bytes" if file.identity.detail else "it names no size"
    )
    yield Sighting(
        where=file_name(file.path),
        evidence=(
            Evidence("it starts with 'version https://git-lfs'", "first bytes"),
            Evidence(f"it has {file.file_bytes:,} bytes; {real}", "pointer text"),
        ),
        why="the model itself is on a Git LFS server; only its pointer was copied",
        remedies=(Remedy("fetch the real file", Tag.SAME_RESULTS, command=_fetch(file.path)),),
    )


def _fetch(path: str | None) -> str:
    """Git LFS takes patterns below the folder it is called in."""
    folder, name = os.path.split(path or "")
    return "" if path is None else command("git -C", folder or ".", "lfs", "pull", "--include", name)
