"""Which tests does a change concern? python tools/changed_tests.py [--base main] [--seconds 90]

    git: changed files -> modules -> their importers, tests too -> test files, nearest first, while time lasts

A test file concerns a change if it was changed itself, mirrors a changed module (test_tensor.py and
model/tensor.py), imports it, imports a module that imports it, or, last, is in the folder of its package. How
long each took last time is in pytest's cache (tests/conftest.py keeps it there); what does not fit into the
seconds is named on standard error. Test files go to standard output, for `make check`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.house.modules import Module, imports_of, read_modules  # noqa: E402

# Always: they are quick, and any change may break them.
HOUSE = ("tests/test_house.py", "tests/house")
# Folders of code, as the names of their modules begin.
CODE = {"outlive": "src/outlive", "tests": "tests", "tools": "tools", "benchmarks": "benchmarks"}
DOCUMENTS = ("README.md", "docs/", "examples/")
DURATIONS = ".pytest_cache/v/outlive/durations"
UNKNOWN_S = 5.0
PROCESSES = 2
FARTHEST = 2
# They name everything that there is: through them every test would concern every change.
FRONTS = frozenset({"outlive", "outlive.verbs"})


@dataclass(frozen=True, slots=True)
class Project:
    """All modules of a repository, and which modules import each."""

    root: Path
    modules: Mapping[str, Module]
    importers: Mapping[str, frozenset[str]]

    @classmethod
    def read(cls, root: Path) -> Project:
        """The modules below `root`, parsed."""
        found = (module for folder in CODE.values() for module in read_modules(root / folder))
        modules = {module.name: module for module in found}
        known = frozenset(modules)
        importers: dict[str, set[str]] = {name: set() for name in known}
        for module in modules.values():
            for _, target in imports_of(module, known):
                importers[target].add(module.name)
        return cls(root, modules, {name: frozenset(users) for name, users in importers.items()})

    def path(self, name: str) -> str:
        """The file of a module, from the root."""
        return self.modules[name].path.relative_to(self.root).as_posix()

    def tests(self) -> Iterator[tuple[str, str]]:
        """Name and path of each test file."""
        for name in self.modules:
            if name.startswith("tests.") and name.rpartition(".")[2].startswith("test_"):
                yield name, self.path(name)


def concerned(project: Project, changed: Iterable[str]) -> dict[str, int]:
    """Test files that a change of these files concerns, with their distance: 0 is the file itself."""
    paths = {path: name for name, path in project.tests()}
    distances: dict[str, int] = {}
    for path in changed:
        if path in paths:
            distances[path] = 0
        for test, distance in _concerned_by(project, path).items():
            distances[test] = min(distance, distances.get(test, distance))
    return distances


def _concerned_by(project: Project, path: str) -> dict[str, int]:
    if path.startswith(DOCUMENTS):
        return {"tests/documents/test_documents.py": 1}
    near = dict.fromkeys(_neighbours(project, path), 1)
    names = set(_modules_behind(project, path))
    seen = set(names)
    for distance in range(1, FARTHEST + 1):
        near = {**dict.fromkeys(_mirrors(project, names), distance), **near}
        names = {user for name in names - FRONTS for user in project.importers.get(name, ())} - seen
        seen |= names
        tests = {project.path(name) for name in names if name.rpartition(".")[2].startswith("test_")}
        near = {**dict.fromkeys(tests, distance), **near}
    return {**dict.fromkeys(_package_tests(project, path), FARTHEST + 1), **near}


def _modules_behind(project: Project, path: str) -> Iterator[str]:
    """The module that a path is, or once was; for data, the modules beside it that name the file."""
    for top, folder in CODE.items():
        if not path.startswith(f"{folder}/"):
            continue
        parts = (top, *Path(path).relative_to(folder).with_suffix("").parts)
        if path.endswith(".py"):
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        elif top == "outlive":
            word = _word_for(project, Path(path))
            yield from (
                name
                for name, module in project.modules.items()
                if name.startswith("outlive.") and word in module.text
            )


def _word_for(project: Project, path: Path) -> str:
    """What code that uses a data file names: the file, or its folder if that holds nothing but data."""
    has_code = any(module.path.parent == project.root / path.parent for module in project.modules.values())
    return path.name if has_code else path.parent.name


def _package_tests(project: Project, path: str) -> Iterator[str]:
    """The tests in the folder that mirrors a module's package."""
    if path.startswith("src/outlive/") and path.count("/") > 2:
        folder = f"tests/{path.split('/')[2]}/"
        yield from (test for _, test in project.tests() if test.startswith(folder))


def _mirrors(project: Project, names: Iterable[str]) -> Iterator[str]:
    """The test files named like modules: test_tensor.py or test_tensor_data.py of model/tensor.py."""
    for name in names:
        parts = name.split(".")
        if parts[0] == "tests" or len(parts) < 2:
            continue
        folder = "/".join(["tests", *(parts[1:-1] if parts[0] == "outlive" else parts[:-1])])
        for _, path in project.tests():
            place, _, file = path.rpartition("/")
            words = f"{Path(file).stem}_"
            if place.startswith(folder) and words.startswith(f"test_{parts[-1]}_"):
                yield path


def _neighbours(project: Project, path: str) -> Iterator[str]:
    """The tests around a file that they use without an import: a conftest, an expected text, a case."""
    is_case = path.startswith("tests/") and (not path.endswith(".py") or path.endswith("/conftest.py"))
    is_rule_case = path.startswith("tests/rules/") and path.count("/") > 2
    if not (is_case or is_rule_case) or path == "tests/conftest.py":
        return
    folder = Path(path).parent
    while folder.name:
        found = [test for _, test in project.tests() if Path(test).is_relative_to(folder)]
        if found:
            yield from found
            return
        folder = folder.parent


def choose(
    distances: Mapping[str, int], durations: Mapping[str, float], seconds: float
) -> tuple[list[str], list[str]]:
    """The tests that can be run in the time, nearest and shortest first, and those left out."""
    taken: list[str] = []
    left_out: list[str] = []
    spent_s = 0.0
    for path in sorted(distances, key=lambda path: (distances[path], durations.get(path, UNKNOWN_S), path)):
        took_s = durations.get(path, UNKNOWN_S)
        fits = spent_s + took_s <= seconds * PROCESSES
        (taken if fits else left_out).append(path)
        spent_s += took_s if fits else 0.0
    return taken, left_out


def changed_files(root: Path, base: str) -> list[str]:
    """Files that differ from the commit, in commits since, uncommitted or new; gone ones too."""
    differing = _git(root, "diff", "--name-only", "--no-renames", "-z", base)
    new = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    return sorted({name for name in f"{differing}\0{new}".split("\0") if name})


def base_of(root: Path) -> str:
    """Where this branch left main; on main itself HEAD, or the commit before it if nothing is new."""
    for main in ("main", "origin/main", "master"):
        try:
            base = _git(root, "merge-base", "HEAD", main).strip()
        except subprocess.CalledProcessError:
            continue
        is_main = base == _git(root, "rev-parse", "HEAD").strip()
        return "HEAD~1" if is_main and not changed_files(root, "HEAD") else base
    return "HEAD"


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main(arguments: list[str] | None = None) -> None:
    """Print the test files to run; on standard error, what was chosen from."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--base", default="", help="the commit to compare with (default: where the branch left main)"
    )
    parser.add_argument("--seconds", type=float, default=90.0, help="time for the tests, two files at a time")
    args = parser.parse_args(arguments)
    base = args.base or base_of(ROOT)
    changed = changed_files(ROOT, base)
    kept = ROOT / DURATIONS
    durations = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    distances = {
        path: distance
        for path, distance in concerned(Project.read(ROOT), changed).items()
        if not path.startswith(HOUSE)
    }
    taken, left_out = choose(distances, durations, args.seconds)
    say = f"{len(changed)} files differ from {base[:12]}; {len(distances)} test files concern them"
    print(f"{say}, {len(left_out)} of them left out for time", file=sys.stderr)
    for path in left_out:
        print(f"  left out: {path} ({durations.get(path, UNKNOWN_S):.0f} s)", file=sys.stderr)
    print("\n".join([*HOUSE, *taken]))


if __name__ == "__main__":
    main()
