"""Which models have changed, as git sees it: since a revision, or since the last commit."""

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

# What git diffs a repository without commits against: the tree with nothing in it.
_NOTHING = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_NAMES = ".tflite"


class GitError(ValueError):
    """git cannot say; the text says why, and what to do."""


def changed_models(revision: str, among: Iterable[str] = ()) -> list[str]:
    """The .tflite files that differ from a revision, new ones included, as seen from this folder.

    A branch is compared from where it parted: what others did there since is not ours. `among` are files and
    folders to stay within; GitError for one that there is not. What was deleted is left out, and so is what
    .gitignore names.
    """
    among = list(among)
    root = _git("rev-parse", "--show-toplevel").rstrip("\n")
    base = _base(revision)
    changed = _git("diff", "--name-only", "-z", "--no-renames", "--diff-filter=d", base, "--", folder=root)
    fresh = _git("ls-files", "--others", "--exclude-standard", "-z", folder=root)
    names = sorted({name for name in (changed + fresh).split("\0") if name.lower().endswith(_NAMES)})
    here = Path.cwd()
    _need_places(among, base)
    found = [os.path.relpath(os.path.join(root, name), here) for name in names]
    inside = [place for word in among for place in (os.path.realpath(word), _location(word))]
    return [path for path in found if not inside or _lies_in(path, inside)]


def _need_places(among: Iterable[str], base: str) -> None:
    """GitError for a place that is not here, nor was: a slip, and nothing would be checked."""
    for place in among:
        if not os.path.lexists(place) and not _try_git("ls-tree", "--name-only", base, "--", place):
            raise GitError(f"there is no {place}, and git knows none")


def _location(path: str) -> str:
    """Where a file lies, links on the way followed; not where it leads, if it is a link itself."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name)


def _lies_in(path: str, places: list[str]) -> bool:
    whole = _location(path)
    return any(whole == place or whole.startswith(place.rstrip(os.sep) + os.sep) for place in places)


def _base(revision: str) -> str:
    """The commit to compare with."""
    if revision.startswith("-") or not revision.strip():
        raise GitError(f"{revision!r} is no revision; write --changed=origin/main, or --changed alone")
    found = _try_git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if found is None:
        if revision == "HEAD":
            return _NOTHING  # nothing has been committed yet
        hint = "; to name files as well write --changed=REV FILE" if os.path.exists(revision) else ""
        raise GitError(
            f"git knows no revision {revision!r}{hint or '; fetch it, or check out with more history'}"
        )
    # None in a shallow clone that does not reach back far enough: then the two commits themselves.
    return (_try_git("merge-base", found.strip(), "HEAD") or found).strip()


def _try_git(*words: str) -> str | None:
    try:
        return _git(*words)
    except GitError:
        return None


def _git(*words: str, folder: str | None = None) -> str:
    try:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise GitError("--changed needs git, which is not installed here; name the files instead") from error
    if done.returncode:
        said = os.fsdecode(done.stderr).strip().splitlines()
        raise GitError(f"--changed needs a git repository: {said[-1] if said else 'git says no'}")
    return os.fsdecode(done.stdout)
