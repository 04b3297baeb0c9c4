"""What code needs is handed to it: no module keeps what a function was given, and workers get a judge."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.house.modules import Module, read_modules

# Modules, or packages, that may keep something, and why.
KEEPERS = {
    "outlive.verbs.progress": "a notebook shows bars for verbs that its user calls, who hands nothing in",
    "outlive.process.child": "a worker's process has one caller: what that sets is the state of the process",
}
# Numbers and words are values: what changes what a module does is an object or a function.
_VALUES = frozenset({"bool", "bytes", "float", "int", "str"})
# Methods that put something into a container.
_KEEPING = frozenset({"add", "append", "appendleft", "extend", "insert", "setdefault", "update"})
_OPENED = "WorkerInterpreter"
_HANDED = "_judge"


def kept_parameters(package: Path) -> list[str]:
    """Functions that put a parameter of theirs in a name of a module, or rebind such a name."""
    return [
        f"{module.at(node.lineno)}: {function.name} keeps what it is given in {kept}: hand it on instead"
        for module in read_modules(package)
        if not any(f"{module.name}.".startswith(f"{keeper}.") for keeper in KEEPERS)
        for function in module.nodes
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for node, kept in _kept(function, _names_of(module))
    ]


def workers_without_judge(package: Path) -> list[str]:
    """Interpreters that are opened in workers without a judge."""
    return [
        f"{module.at(node.lineno)}: {_OPENED}(...) is not given {_HANDED}"
        for module in read_modules(package)
        for node in module.nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == _OPENED
        if not any(keyword.arg in (None, _HANDED) for keyword in node.keywords)
    ]


def _names_of(module: Module) -> frozenset[str]:
    """What the module itself binds to a value, and what it imports of the package."""
    found: set[str] = set()
    for node in module.tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "outlive":
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {
                name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)
            }
    return frozenset(found)


def _kept(
    function: ast.FunctionDef | ast.AsyncFunctionDef, names: frozenset[str]
) -> Iterator[tuple[ast.stmt, str]]:
    parameters = set(_objects_given(function.args))
    for node in ast.walk(function):
        if isinstance(node, ast.Global):
            yield node, ", ".join(node.names)
        elif isinstance(node, (ast.Assign, ast.Expr)):
            root, value = _stored(node)
            if root in names - parameters and _is_one_of(value, parameters):
                yield node, root


def _stored(node: ast.Assign | ast.Expr) -> tuple[str, ast.expr]:
    """Where a statement puts something, and what; no place if it does neither."""
    if isinstance(node, ast.Assign):
        return _root(node.targets[0]), node.value
    call = node.value
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.args:
        return (_root(call.func) if call.func.attr in _KEEPING else ""), call.args[-1]
    return "", call


def _objects_given(given: ast.arguments) -> Iterator[str]:
    for one in (*given.posonlyargs, *given.args, *given.kwonlyargs):
        is_value = isinstance(one.annotation, ast.Name) and one.annotation.id in _VALUES
        if one.arg not in ("self", "cls") and not is_value:
            yield one.arg


def _root(target: ast.expr) -> str:
    """`_judges` of `_judges[:]`, `verdicts` of `verdicts.judge`; nothing of a plain name, which is local."""
    if not isinstance(target, (ast.Subscript, ast.Attribute)):
        return ""
    while isinstance(target, (ast.Subscript, ast.Attribute)):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""


def _is_one_of(value: ast.expr, parameters: set[str]) -> bool:
    """True of a parameter, as it is, in a list or the like, or in one of two cases."""
    if isinstance(value, ast.Name):
        return value.id in parameters
    if isinstance(value, (ast.List, ast.Tuple, ast.Set)):
        return any(_is_one_of(item, parameters) for item in value.elts)
    if isinstance(value, ast.IfExp):
        return _is_one_of(value.body, parameters) or _is_one_of(value.orelse, parameters)
    return False
