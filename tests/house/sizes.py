"""Modules, functions and nesting stay small, and no module has a name that says nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.house.modules import Module, read_modules

MODULE_LINES = 500
FUNCTION_LINES = 60
NESTING = 3
RULE_LINES = range(20, 131)
RULE_FILES = "rules/*/[a-z][0-9][0-9][0-9]_*.py"
EMPTY_NAMES = frozenset({"utils", "helpers", "common", "misc", "base", "manager", "core", "impl"})

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BRANCHES = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.Try,
    ast.With,
    ast.AsyncWith,
    ast.Match,
    *([ast.TryStar] if hasattr(ast, "TryStar") else []),  # except*, from Python 3.11 on
)


def long_modules(root: Path) -> list[str]:
    """Files of more than MODULE_LINES lines."""
    return [
        f"{module.path}: {module.line_count} lines, more than {MODULE_LINES}"
        for module in read_modules(root)
        if module.line_count > MODULE_LINES
    ]


def long_functions(root: Path) -> list[str]:
    """Functions and methods of more than FUNCTION_LINES lines, docstring included, decorators not."""
    problems = []
    for module, function in _functions(root):
        lines = (function.end_lineno or function.lineno) - function.lineno + 1
        if lines > FUNCTION_LINES:
            place = module.at(function.lineno)
            problems.append(f"{place}: {function.name} has {lines} lines, more than {FUNCTION_LINES}")
    return problems


def deep_functions(root: Path) -> list[str]:
    """Functions whose control flow is nested more than NESTING deep; an `elif` is no deeper than its `if`."""
    problems = []
    for module, function in _functions(root):
        depth = max(map(_depth, function.body))
        if depth > NESTING:
            place = module.at(function.lineno)
            problems.append(f"{place}: {function.name} is nested {depth} deep, more than {NESTING}")
    return problems


def _functions(root: Path) -> Iterator[tuple[Module, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for module in read_modules(root):
        for node in module.nodes:
            if isinstance(node, _FUNCTIONS):
                yield module, node


def _depth(node: ast.AST) -> int:
    """How many branches lie around the innermost statement of `node`."""
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        return 0  # counted for itself
    if isinstance(node, ast.If):
        return _depth_of_if(node)
    inner = max(map(_depth, ast.iter_child_nodes(node)), default=0)
    return inner + isinstance(node, _BRANCHES)


def _depth_of_if(node: ast.If) -> int:
    own = 1 + max(map(_depth, node.body))
    if not node.orelse:
        return own
    is_elif = len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)
    other = max(map(_depth, node.orelse))
    return max(own, other if is_elif else 1 + other)


def empty_names(root: Path) -> list[str]:
    """Modules and packages named after nothing in particular."""
    return [
        f"{module.path}: a module named '{part}' says nothing about what is in it"
        for module in read_modules(root)
        for part in module.path.relative_to(root).with_suffix("").parts
        if part.strip("_") in EMPTY_NAMES
    ]


def rule_sizes(package: Path) -> list[str]:
    """Rule files that are too short to explain themselves, or do more than one thing."""
    problems = []
    for path in sorted(package.glob(RULE_FILES)):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines not in RULE_LINES:
            problems.append(f"{path}: {lines} lines; a rule has {RULE_LINES.start} to {RULE_LINES.stop - 1}")
    return problems
