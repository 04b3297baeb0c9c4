"""Packages are worth their files, and are used by what they offer."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.house.modules import Module, imports_of, longest_known, read_modules

FEW_LINES = 100
FOLDER_FILES = 60
PUBLIC = "PUBLIC_MODULES"


def small_modules_with_one_importer(package: Path) -> list[str]:
    """Modules of fewer than FEW_LINES lines that one module of their own package imports, and no other."""
    modules = {module.name: module for module in read_modules(package)}
    known = frozenset(modules)
    importers: dict[str, set[str]] = defaultdict(set)
    for module in modules.values():
        for _, target in imports_of(module, known):
            importers[target].add(module.name)
    return [
        f"{module.path}: {module.line_count} lines, imported by {user} only; it belongs there"
        for name, module in modules.items()
        if module.package != "rules" and not module.is_package and module.line_count < FEW_LINES
        for user in importers[name]
        if len(importers[name]) == 1 and modules[user].package == module.package
    ]


def full_folders(package: Path) -> list[str]:
    """Folders with more than FOLDER_FILES Python files; a family of rules has as many as it has rules."""
    counts = Counter(module.path.parent for module in read_modules(package) if module.package != "rules")
    return [
        f"{folder}: {count} files, more than {FOLDER_FILES}"
        for folder, count in sorted(counts.items())
        if count > FOLDER_FILES
    ]


def imports_past_the_surface(package: Path) -> list[str]:
    """Imports of another package's module that neither its `__init__` offers nor PUBLIC_MODULES names."""
    modules = {module.name: module for module in read_modules(package)}
    known = frozenset(modules)
    surfaces = {name: _Surface(module) for name, module in modules.items() if module.is_package}
    return [
        f"{module.at(line)}: {target} is not offered by {package.name}.{modules[target].package}"
        for module in modules.values()
        for line, target in dict.fromkeys(_imports_across(module, known, modules, surfaces))
    ]


def unknown_public_modules(package: Path) -> list[str]:
    """Names in PUBLIC_MODULES that are no module, or that no other package imports."""
    modules = {module.name: module for module in read_modules(package)}
    known = frozenset(modules)
    used = {
        target
        for module in modules.values()
        for _, target in imports_of(module, known)
        if modules[target].package != module.package
    } | {
        node.value  # a table of modules that are loaded when they are needed
        for module in modules.values()
        for node in module.nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in known
        if modules[node.value].package != module.package
    }
    return [
        f"{module.path}: {PUBLIC} names {listed}, which "
        + ("no package uses" if full in known else "is no module")
        for name, module in modules.items()
        if module.is_package and name.count(".") == 1
        for listed in _Surface(module).public
        if (full := f"{name}.{listed}") not in used
    ]


class _Surface:
    """What a package offers: the names in its `__init__`, and the modules that it names as public."""

    def __init__(self, module: Module) -> None:
        self.public = tuple(_public_modules(module.tree))
        self.names = frozenset(_bound_names(module))


def _imports_across(
    module: Module, known: frozenset[str], modules: dict[str, Module], surfaces: dict[str, _Surface]
) -> Iterator[tuple[int, str]]:
    for line, written, target in _imports_of_the_tree(module, known):
        other = modules[target].package
        if other == module.package or target.count(".") < 2:
            continue
        front = ".".join(target.split(".")[:2])
        surface = surfaces[front]
        by_name = written.rpartition(".")[0] == front and written.rpartition(".")[2] in surface.names
        if not by_name and target.removeprefix(f"{front}.") not in surface.public:
            yield line, target


def _imports_of_the_tree(module: Module, known: frozenset[str]) -> Iterator[tuple[int, str, str]]:
    """Line of each import, what is written there, and the module that it is of."""
    for line, written in module.imports:
        target = longest_known(written, known)
        if target:
            yield line, written, target


def _public_modules(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and PUBLIC in _targets(node) and node.value:
            yield from _strings([*ast.walk(node.value)])


def _bound_names(module: Module) -> Iterator[str]:
    """Names that the `__init__` defines, imports, or has in `__all__` or in a table of lazy names."""
    for node in module.nodes:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            yield node.name
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Dict):
            yield from _strings(node.keys)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            yield from _targets(node)
            if "__all__" in _targets(node) and node.value:
                yield from _strings([*ast.walk(node.value)])


def _targets(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _strings(nodes: Iterable[ast.AST | None]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
