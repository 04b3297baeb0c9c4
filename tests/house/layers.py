"""Imports go down the layers only, never sideways, never in a cycle."""

from __future__ import annotations

from pathlib import Path

from tests.house.modules import TOP_MODULES, Module, imports_of, read_modules

# From top to bottom. Packages of one layer do not import each other.
LAYERS = (
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
    (
        "finding",
        "errors",
        "names",
        "records",
        "results",
        "units",
        "version",
        "threads",
        "atomic_files",
        "cache",
        "system_features",
        "platforms",
        "demo_models",
    ),
)
# The shared words are single files that count as one package: an error carries a finding.
SHARED_WORDS = frozenset(LAYERS[-1])
# A worker carries bytes, arrays and op indices; the layers above give them names.
SEPARATE = frozenset({("process", "model"), ("interpreter", "model")})
DATA_ONLY = frozenset({"device_data"})

_LAYER_OF = {package: layer for layer, packages in enumerate(LAYERS) for package in packages}


def unknown_packages(package: Path) -> list[str]:
    """Modules in a package that is in no layer, and code where only data may be."""
    problems = []
    for module in read_modules(package):
        if module.package in DATA_ONLY:
            problems.append(f"{module.path}: {module.package}/ holds data only, no code")
        elif module.package not in _LAYER_OF:
            problems.append(
                f"{module.path}: '{module.package}' is in no layer (see LAYERS in tests/house/layers.py)"
            )
    return problems


def imports_not_going_down(package: Path) -> list[str]:
    """Imports of a higher layer, or of another package of the same layer."""
    modules = {module.name: module for module in read_modules(package)}
    known = frozenset(modules)
    return [
        f"{module.at(line)}: {module.package} imports {target}, which is {complaint}"
        for module in modules.values()
        for line, target in imports_of(module, known)
        if (complaint := _complaint(module, modules[target]))
    ]


def _complaint(importer: Module, target: Module) -> str:
    here, there = importer.package, target.package
    if here == there or {here, there} <= SHARED_WORDS or not {here, there} <= set(_LAYER_OF):
        return ""
    if (here, there) in SEPARATE:
        return f"a package that {here} must not import"
    if _LAYER_OF[there] < _LAYER_OF[here]:
        return "in a higher layer"
    if _LAYER_OF[there] == _LAYER_OF[here] and here not in TOP_MODULES:
        return "another package of the same layer"
    return ""


def import_cycles(package: Path) -> list[str]:
    """Cycles of modules that import each other, each reported once."""
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
