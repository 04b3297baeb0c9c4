"""`%%outlive`: a whole cell in a guarded worker.

names the code reads  ──> worker: runs the cell ──> names it assigned
what cannot come back is said by name; what is printed appears as it is printed
if the worker dies, the kernel and all its variables stay, and a card says why
"""

from __future__ import annotations

import argparse
import ast
import builtins
import shlex
import sys
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from outlive.jupyter import error_cards
from outlive.jupyter.cell_child import FIGURES, WantedNames, imported, run_cell, why_not_sent
from outlive.units import parse_bytes

_HELP = "run this cell in a worker: %%outlive [--memory 4GB] [--seconds 60] [--in x,y] [--out z]"
# A cell that imports all names of a library may leave hundreds behind.
_MOST_LOST = 8


class LazyModule(ModuleType):
    """A module that was imported in a worker: here it is imported when it is first used.

    So are `parts`: those below it that were imported as `import a.b.c` does.
    """

    def __init__(self, name: str, parts: tuple[str, ...] = ()) -> None:
        """Of this name, with these below it."""
        super().__init__(name)
        self.__dict__["__outlive_parts__"] = parts

    def __getattr__(self, name: str) -> Any:
        """What the real module has."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(imported(self.__name__, self.__dict__["__outlive_parts__"]), name)

    def __reduce__(self) -> Any:
        """In a worker it is the module itself."""
        return imported, (self.__name__, self.__dict__["__outlive_parts__"])


def register(shell: Any) -> None:
    """Make `%%outlive` known."""

    def outlive(line: str, cell: str) -> Any:
        __tracebackhide__ = True  # an error in the cell is about the cell, not about us
        return run_guarded(shell, line, cell)

    shell.register_magic_function(outlive, "cell", "outlive")


def unregister(shell: Any) -> None:
    """Forget it."""
    shell.magics_manager.magics["cell"].pop("outlive", None)


def run_guarded(shell: Any, line: str, cell: str) -> Any:
    """Run a cell in a worker; its value, as of any cell."""
    __tracebackhide__ = True
    options = read_options(line)
    source = shell.transform_cell(cell)
    if "get_ipython()" in source and "get_ipython()" not in cell:
        raise ValueError("magics (%) and shell commands (!) work in the kernel only, not in a %%outlive cell")
    read, assigned = names_in(source)
    taken = options["in"] if options["in"] is not None else sorted(read & shell.user_ns.keys() - _OWN)
    absent = [name for name in taken if name not in shell.user_ns]
    if absent:
        raise NameError(f"--in {','.join(absent)}: this notebook has no variable of that name")
    only = options["out"] is not None
    wanted = WantedNames(names=tuple(options["out"] if only else sorted(assigned)), only=only)
    number = len(shell.history_manager.input_hist_raw) - 1
    given = {name: shell.user_ns[name] for name in taken}
    try:
        made = _call(source, f"cell [{number}]", given, wanted, options["memory"], options["seconds"])
    except BaseException as error:
        _publish(shell, error.__dict__.pop(FIGURES, ()))
        error_cards.show_as_card(shell, error)
        raise
    parts = submodules_in(source)
    shell.user_ns.update(made["values"])
    shell.user_ns.update({name: _module(real, parts.get(name, ())) for name, real in made["modules"].items()})
    _show(shell, made)
    return made["last"]


def _call(
    source: str, file: str, given: dict[str, Any], wanted: WantedNames, memory: Any, seconds: Any
) -> dict[str, Any]:
    """The cell's results from a worker; its errors without the way they took through ours."""
    __tracebackhide__ = True
    from outlive.verbs.guard import cannot_be_sent, guard_cell

    try:
        run = guard_cell(run_cell, file, memory, seconds)
        made: dict[str, Any] = run(source, file, given, wanted, used_modules(source, given))
    except BaseException as error:
        if not cannot_be_sent(error):
            raise error.with_traceback(None) from error.__cause__
        stuck = {name: reason for name, value in given.items() if (reason := why_not_sent(value))}
        words = "; ".join(f"{name} ({reason})" for name, reason in stuck.items()) or str(error)
        raise TypeError(f"cannot go to a worker: {words}. Make it in the cell, or say --in") from None
    return made


# Names that IPython keeps for itself.
_OWN = frozenset({"In", "Out", "get_ipython", "exit", "quit", "open"})


def names_in(source: str) -> tuple[set[str], set[str]]:
    """The names that code may read from outside, and those it assigns at its top level."""
    tree = ast.parse(source)
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return read - set(dir(builtins)), set(_bound(tree))


def submodules_in(source: str) -> dict[str, tuple[str, ...]]:
    """By the name that `import a.b.c` binds, the modules that it imports below it."""
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import)]
    found: dict[str, list[str]] = {}
    for alias in (alias for node in imports for alias in node.names):
        if "." in alias.name and alias.asname is None:
            found.setdefault(alias.name.split(".")[0], []).append(alias.name)
    return {name: tuple(dict.fromkeys(parts)) for name, parts in found.items()}


def used_modules(source: str, given: dict[str, Any]) -> tuple[str, ...]:
    """The modules that are loaded here, and that the code reaches through one it is given: `a.b` of `a`."""
    found: dict[str, None] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            root, *rest = ast.unparse(node).split(".")
            module = given.get(root)
            name = ".".join((module.__name__, *rest)) if isinstance(module, ModuleType) else ""
            if name in sys.modules:
                found.setdefault(name)
    return tuple(found)


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_OWN_NAMES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _bound(node: ast.AST) -> Iterator[str]:
    """What is bound or changed at the top level: not inside of functions, classes and comprehensions."""
    if isinstance(node, _DEFINITIONS):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names if alias.name != "*")
    elif isinstance(node, ast.Name):
        yield from [node.id] * isinstance(node.ctx, ast.Store)
    elif not isinstance(node, _OWN_NAMES):
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            yield from _root(node)
        for child in ast.iter_child_nodes(node):
            yield from _bound(child)


def _root(node: ast.AST) -> Iterator[str]:
    """The name at the start of `name.a[3].b`."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    yield from [node.id] if isinstance(node, ast.Name) else []


def read_options(line: str) -> dict[str, Any]:
    """The options of the magic; ValueError in words for those it does not have."""
    parser = argparse.ArgumentParser(prog="%%outlive", description=_HELP, add_help=False, exit_on_error=False)
    parser.add_argument("--memory")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--in", type=_names)
    parser.add_argument("--out", type=_names)
    try:
        options, others = parser.parse_known_args(shlex.split(line))
    except argparse.ArgumentError as error:
        raise ValueError(f"{error}; {_HELP}") from None
    if others:
        raise ValueError(f"%%outlive does not know {' '.join(others)}; {_HELP}")
    if options.memory is not None:
        parse_bytes(options.memory)  # mistakes show before anything is started
    return vars(options)


def _names(text: str) -> list[str]:
    return [name for name in text.replace(",", " ").split() if name]


def _module(name: str, parts: tuple[str, ...]) -> ModuleType:
    """The module if it is here already; importing it here is what a guarded cell may want to avoid."""
    is_here = all(part in sys.modules for part in (name, *parts))
    return sys.modules[name] if is_here else LazyModule(name, parts)


def _show(shell: Any, made: dict[str, Any]) -> None:
    """Figures, a value that is only known by its words, and the names that stayed behind."""
    _publish(shell, made["figures"])
    if made["said"]:
        sys.stdout.write(made["said"] + "\n")
    for name, reason in list(made["lost"].items())[:_MOST_LOST]:
        sys.stderr.write(f"{name} stays in the worker, which cannot send it: {reason}\n")
    more = list(made["lost"])[_MOST_LOST:]
    if more:
        sys.stderr.write(f"so do {len(more)} more: {', '.join(more)[:400]}\n")
    for name in made["missing"]:
        sys.stderr.write(f"--out {name}: the cell ended without a variable of that name\n")


def _publish(shell: Any, figures: Iterable[bytes]) -> None:
    for figure in figures:
        shell.display_pub.publish(data={"image/png": figure, "text/plain": "<figure>"}, metadata={})
