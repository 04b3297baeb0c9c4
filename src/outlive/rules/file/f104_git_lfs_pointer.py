"""Git LFS pointer instead of a model

What it checks
    The file is not the three-line text that Git LFS leaves in place of a large file.

Why it matters
    A clone without Git LFS contains pointers. The runtime reports a wrong model identifier.

What to do
    Fetch the real file with `git lfs pull`.

Limits
    None known: the Git LFS specification fixes the first line of a pointer.
"""

import os

from outlive.model import Reading
from outlive.rules.api import Evidence, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.wording import command, file_name


@rule("F104", "git-lfs-pointer", Severity.ERROR, since="0.1")
def git_lfs_pointer(file: Reading) -> Sightings:
    if file.identity.kind != "git-lfs-pointer":
        return
    real = f"the model has {file.identity.detail} bytes" if file.identity.detail else "no size given"
    yield Sighting(
        value=real,
        where=file_name(file.path),
        evidence=(
            Evidence("starts with 'version https://git-lfs'", "first bytes"),
            Evidence(f"{file.file_bytes:,} bytes; {real}", "pointer text"),
        ),
        why="the clone contains the pointer, and the Git LFS server the model",
        remedies=(Remedy("fetch the real file", Tag.SAME_RESULTS, command=_fetch(file.path)),),
    )


def _fetch(path: str | None) -> str:
    """Git LFS takes patterns below the folder it is called in."""
    folder, name = os.path.split(path or "")
    return "" if path is None else command("git -C", folder or ".", "lfs", "pull", "--include", name)
