"""Public things have docstrings, packages name their question, one module prints."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.house.modules import Module, read_modules

SPEAKING = "cli/terminal.py"
QUESTION_LINES = 3

_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def missing_docstrings(package: Path) -> list[str]:
    """Modules, and public classes, functions and methods, without a docstring.

    The function of a rule needs none: the docstring of its module is the rule's text.
    """
    problems = []
    for module in read_modules(package):
        if not ast.get_docstring(module.tree):
            problems.append(f"{module.path}: the module has no docstring")
        for node in _public_definitions(module.tree):
            if not ast.get_docstring(node):
                problems.append(f"{module.at(node.lineno)}: {node.name} has no docstring")
    return problems


def _public_definitions(
    parent: ast.Module | ast.ClassDef,
) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in parent.body:
        if not isinstance(node, _DEFINITIONS) or node.name.startswith("_") or _speaks_elsewhere(node):
            continue
        yield node
        if isinstance(node, ast.ClassDef):
            yield from _public_definitions(node)


def _speaks_elsewhere(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it is an overload, or the function of a rule."""
    words = [ast.unparse(decorator) for decorator in node.decorator_list]
    return any(word.endswith("overload") or word.startswith("rule(") for word in words)


def packages_without_question(package: Path) -> list[str]:
    """Folders without an `__init__`, or whose docstring does not open with the question they answer."""
    modules = read_modules(package)
    folders = {module.package for module in modules if len(module.path.relative_to(package).parts) > 1}
    packages = {
        module.package: module
        for module in modules
        if module.path.parent.parent == package and module.is_package
    }
    problems = [
        f"{package / name}: a package needs an __init__.py" for name in sorted(folders - packages.keys())
    ]
    for module in packages.values():
        opening = (ast.get_docstring(module.tree) or "").splitlines()[:QUESTION_LINES]
        if "?" not in " ".join(opening):
            problems.append(f"{module.path}: the docstring does not open with the package's question")
    return problems


def stray_prints(package: Path) -> list[str]:
    """Calls of print() outside the one module that escapes what it prints."""
    return [
        f"{module.at(node.lineno)}: print() outside {SPEAKING}; names from files are escaped there"
        for module in read_modules(package)
        if module.path != package / SPEAKING
        for node in module.nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]


def unsorted_or_incomplete_all(package: Path) -> list[str]:
    """What is wrong with `__all__` of the package: its order, doubles, or public names it leaves out."""
    modules = {module.name: module for module in read_modules(package)}
    front = modules[package.name]
    listed = _listed_in_all(front.tree)
    if listed is None:
        return [f"{front.path}: __all__ is not a plain list or tuple of strings"]
    problems = []
    if listed != sorted(listed):
        problems.append(f"{front.path}: __all__ is not sorted")
    if len(set(listed)) < len(listed):
        problems.append(f"{front.path}: __all__ names something twice")
    for name, origin in sorted(_names_to_offer(package.name, modules)):
        if name not in listed:
            problems.append(f"{front.path}: {name} of {origin} is public and not in __all__")
    return problems


def _listed_in_all(tree: ast.Module) -> list[str] | None:
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            return _string_items(getattr(node, "value", None))
    return None


def _string_items(node: ast.expr | None) -> list[str] | None:
    if not isinstance(node, (ast.List, ast.Tuple)):
        return None
    words = [
        item.value for item in node.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)
    ]
    return words if len(words) == len(node.elts) else None


def _names_to_offer(package: str, modules: dict[str, Module]) -> Iterator[tuple[str, str]]:
    """Name and module of each verb of the API, each error, and each name the front module takes in itself."""
    errors = modules.get(f"{package}.errors")
    for definition in _public_definitions(errors.tree) if errors else ():
        if isinstance(definition, ast.ClassDef):
            yield definition.name, f"{package}.errors"
    for name, module in modules.items():
        folder, _, verb = name.rpartition(".")
        if folder == f"{package}.verbs" and any(
            isinstance(node, ast.FunctionDef) and node.name == verb for node in module.tree.body
        ):
            yield verb, name
    for name in _names_of_front(package, modules[package].tree):
        yield name, package


def _names_of_front(package: str, tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").split(".")[0] == package):
            yield from (alias.asname or alias.name for alias in node.names if _is_public(alias))
    for definition in _public_definitions(tree):
        yield definition.name


def _is_public(alias: ast.alias) -> bool:
    return not (alias.asname or alias.name).startswith("_")
