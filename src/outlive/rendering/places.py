"""Where a file is, for programs that show findings beside it: paths and URIs as seen from a folder."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from outlive.finding import Finding


def relative_path(path: str | None, folder: Path) -> str:
    """The path from the folder, with slashes; the whole path if it lies elsewhere; empty if there is none."""
    if not path:
        return ""
    whole = Path(os.path.abspath(os.path.join(folder, path.replace("\0", "\\x00"))))
    try:
        return whole.relative_to(folder).as_posix()
    except ValueError:
        return whole.as_posix()


def artifact_uri(path: str | None, folder: Path) -> str:
    """The same as a URI: relative below the folder, `file://` elsewhere; empty if there is none."""
    shown = relative_path(path, folder)
    if not shown:
        return ""
    # A first part with a colon would be taken for a scheme.
    quoted = quote(os.fsencode(shown), safe="/~")
    return f"file://{quoted}" if shown.startswith("/") else quoted


def place_within(finding: Finding, path: str | None) -> str:
    """The operator, tensor or byte in the file; empty where the finding is about the whole file."""
    where = finding.where
    return where[len(path) :].lstrip(", ") if path and where.startswith(path) else where
