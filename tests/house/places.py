"""No file of the project knows the machine it was written on."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

# Absolute paths that exist on a developer's machine only. Spelled in parts, so as not to find themselves.
_ROOTS = ("work", "root", "opt/pypi", "opt/wheels", "tmp/lab")
MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:" + "|".join(_ROOTS) + r")(?![\w.])")
_NOT_OURS = frozenset(
    {".git", ".venv", "__pycache__", ".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
)


def machine_paths(root: Path) -> list[str]:
    """Lines of text files below `root` that hold a path of somebody's machine."""
    problems = []
    for path in project_files(root):
        text = _text(path)
        for number, line in enumerate(text.splitlines(), start=1):
            found = MACHINE_PATH.search(line)
            if found:
                problems.append(f"{path}:{number}: holds the machine's path '{found.group()}'")
    return problems


def project_files(root: Path) -> list[Path]:
    """The files that belong to the project: what git has or would take; without git, all but caches."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        paths = [path for path in root.rglob("*") if not _NOT_OURS.intersection(path.relative_to(root).parts)]
    else:
        paths = [root / name for name in listing.split("\0") if name]
    return sorted(path for path in paths if path.is_file())


def _text(path: Path) -> str:
    """The file's text; nothing if it is binary."""
    data = path.read_bytes()
    return "" if b"\0" in data else data.decode("utf-8", errors="replace")
