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

from __future__ import annotations

import os
from collections.abc import Iterator

from outlive.finding import Evidence, Remedy, Severity, Sighting, Tag
from outlive.model import Reading
from outlive.rules.engine import rule
from outlive.rules.telling import command, file_name


@rule("F104", "git-lfs-pointer", Severity.ERROR, since="0.1")
def git_lfs_pointer(file: Reading) -> Iterator[Sighting]:
    """See the module."""
    if file.identity.kind != "git-lfs-pointer":
        return
    real = (
        f"the model itself has {file.identity.detail} bytes" if file.identity.detail else "it names no size"
    )
    yield Sighting(
        where=file_name(file.path),
        evidence=(
            Evidence(fact="it starts with 'version https://git-lfs'", source="first bytes"),
            Evidence(fact=f"it has {file.file_bytes:,} bytes; {real}", source="pointer text"),
        ),
        why="the model itself is on a Git LFS server; only its pointer was copied",
        remedies=(
            Remedy(
                action="fetch the real file",
                tag=Tag.SAME_RESULTS,
                command=_fetch(file.path),
            ),
        ),
    )


def _fetch(path: str | None) -> str:
    """Git LFS takes patterns below the folder it is called in."""
    folder, name = os.path.split(path or "")
    return "" if path is None else command("git -C", folder or ".", "lfs", "pull", "--include", name)
