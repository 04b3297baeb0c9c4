"""Imports go down the floors only, never sideways, never in a circle."""

from __future__ import annotations

from pathlib import Path

from tests.house.modules import DOORS, Module, imports_of, read_modules

# From top to bottom. Rooms on one floor do not know each other.
FLOORS = (
    ("__init__", "__main__"),
    ("cli", "jupyter", "pytest_plugin"),
    ("verbs",),
    ("rendering",),
    ("fleet",),
    ("fitting", "diagnosis", "exporting"),
    ("planning",),
    ("rules",),
    ("quant", "accelerators", "kernel_deaths", "growth", "environment"),
    ("guarding",),
    ("interpreter",),
    ("process",),
    ("surgery", "arena"),
    ("kernels",),
    ("meter", "model", "project"),
    ("finding", "errors", "names", "records", "units", "version", "apart", "keeping", "cache", "demo_models"),
)
# The shared words are single files that make up one room: an error carries a finding.
SHARED_WORDS = frozenset(FLOORS[-1])
# A worker carries bytes, arrays and op indices; names are put to them upstairs.
STRANGERS = frozenset({("process", "model"), ("interpreter", "model")})
DATA_ONLY = frozenset({"device_data"})

_FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}


def unknown_rooms(package: Path) -> list[str]:
    """Modules in a room that stands on no floor, and code where only data may be."""
    problems = []
    for module in read_modules(package):
        if module.room in DATA_ONLY:
            problems.append(f"{module.path}: {module.room}/ holds data only, no code")
        elif module.room not in _FLOOR_OF:
            problems.append(
                f"{module.path}: '{module.room}' is on no floor (see FLOORS in tests/house/floors.py)"
            )
    return problems


def imports_not_going_down(package: Path) -> list[str]:
    """Imports that go up a floor, or sideways between two rooms of one floor."""
    modules = {module.name: module for module in read_modules(package)}
    known = frozenset(modules)
    return [
        f"{module.at(line)}: {module.room} imports {target}, which is {complaint}"
        for module in modules.values()
        for line, target in imports_of(module, known)
        if (complaint := _complaint(module, modules[target]))
    ]


def _complaint(importer: Module, target: Module) -> str:
    here, there = importer.room, target.room
    if here == there or {here, there} <= SHARED_WORDS or not {here, there} <= set(_FLOOR_OF):
        return ""
    if (here, there) in STRANGERS:
        return f"a room that {here} must not know"
    if _FLOOR_OF[there] < _FLOOR_OF[here]:
        return "on a floor above"
    if _FLOOR_OF[there] == _FLOOR_OF[here] and here not in DOORS:
        return "next door on the same floor"
    return ""


def import_cycles(package: Path) -> list[str]:
    """Circles of modules that import each other, each told once."""
    modules = read_modules(package)
    known = frozenset(module.name for module in modules)
    graph = {module.name: sorted({target for _, target in imports_of(module, known)}) for module in modules}
    cycles: dict[frozenset[str], str] = {}
    for name in graph:
        path = _way_back(graph, name)
        if path:
            cycles.setdefault(frozenset(path), f"import cycle: {' -> '.join(path)}")
    return list(cycles.values())


def _way_back(graph: dict[str, list[str]], start: str) -> list[str]:
    """The shortest path from `start` to itself, both ends included; empty if there is none."""
    paths = [[start]]
    seen: set[str] = set()
    for path in paths:  # grows while we walk it: breadth first
        for target in graph[path[-1]]:
            if target == start:
                return [*path, start]
            if target not in seen:
                seen.add(target)
                paths.append([*path, target])
    return []
