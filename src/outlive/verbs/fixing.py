"""What a check can change by itself: waste goes, results stay the same to the bit, the old file is kept."""

from __future__ import annotations

import os
import shutil

from outlive.atomic_files import write_whole
from outlive.model import Model
from outlive.rules import assess
from outlive.rules.checked import FIXABLE_CODES, FixedFile
from outlive.surgery import trim
from outlive.verbs.read import reading_of


def fix_file(model: Model, codes: frozenset[str]) -> FixedFile | None:
    """Replace the file of a model by one without its waste; None if none of these findings would go.

    The old file stays beside it. OSError if one of the two cannot be written: then nothing has changed.
    """
    path = model.path
    trimmed = trim(model) if path is not None and codes & FIXABLE_CODES else None
    if path is None or trimmed is None or not trimmed.saved_bytes:
        return None
    left = assess(reading_of(trimmed.data))
    gone = (codes & FIXABLE_CODES) - {finding.code for finding in left.findings}
    if not gone or left.errors:
        return None
    old_bytes = len(model.content)
    backup = _keep(path)
    write_whole(path, trimmed.data)
    return FixedFile(
        path=path,
        backup=backup,
        old_bytes=old_bytes,
        new_bytes=len(trimmed.data),
        codes=tuple(sorted(gone)),
    )


def _keep(path: str) -> str:
    """Copy a file to a name beside it that nothing has; the name."""
    number = 0
    while True:
        backup = f"{path}.orig" if not number else f"{path}.{number}.orig"
        try:
            with open(path, "rb") as old, open(backup, "xb") as copy:
                shutil.copyfileobj(old, copy)
        except FileExistsError:
            number += 1
            continue
        shutil.copystat(path, backup)
        with open(backup, "rb") as copy:
            os.fsync(copy.fileno())
        return backup
