"""Which files a project leaves out: those that .gitignore and .outliveignore name, as git reads them."""

from __future__ import annotations

import os
from collections.abc import Callable

from outlive.project.config import Patterns, read_patterns

# Later ones go before earlier ones.
NAMES = (".gitignore", ".outliveignore")
# Folders of tools and copies of models, which no project wants to check.
_ALWAYS = read_patterns(
    (
        ".git/", ".hg/", ".svn/", ".venv/", "venv/", ".tox/", ".nox/", "node_modules/", "site-packages/",
        "__pycache__/", ".ipynb_checkpoints/", ".mypy_cache/", ".pytest_cache/", ".ruff_cache/", "*.orig",
    )
)  # fmt: skip
# No ignore file that was written by hand is larger.
_MOST_BYTES = 1 << 20
# Whether to leave out a path; True stands for a folder.
Skip = Callable[[str, bool], bool]


def ignored_below(start: str) -> Skip:
    """What to leave out below a folder: by the files in it, below it, and above it up to its repository.

    A folder that is named itself is wanted, even if a file above says otherwise.
    """
    top = os.path.realpath(start)
    root = _repository(top) or top
    known: dict[str, Patterns] = {}
    if root != top and _is_ignored(top, True, root, known):
        root = top
    return lambda path, is_folder: _is_ignored(_place(path), is_folder, root, known)


def _place(path: str) -> str:
    """Where a path lies, links on the way followed; not where it leads, if it is a link itself."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name)


def _repository(folder: str) -> str | None:
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def _is_ignored(path: str, is_folder: bool, root: str, known: dict[str, Patterns]) -> bool:
    """What the nearest file says that names the path; else what always goes."""
    folder = os.path.dirname(path)
    while folder == root or folder.startswith(root.rstrip(os.sep) + os.sep):
        if folder not in known:
            known[folder] = read_patterns([line for name in NAMES for line in _lines(folder, name)])
        verdict = known[folder](os.path.relpath(path, folder), is_folder)
        if verdict is not None:
            return verdict
        folder = os.path.dirname(folder) if folder != root else ""
    return bool(_ALWAYS(os.path.basename(path), is_folder))


def _lines(folder: str, name: str) -> list[str]:
    try:
        with open(os.path.join(folder, name), "rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return []
