"""A source tree as the checks see it: its modules, each file parsed once in a session, never imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

TOP_MODULES = {"__init__", "__main__"}  # at the top of the tree, in no package
# The parts of a platform (platforms/<name>/...), and the package that each belongs to.
PLATFORM_PARTS = {
    "for_meter": "meter",
    "meter": "meter",
    "for_process": "process",
    "process": "process",
    "child": "process",
}


@dataclass(frozen=True)
class Module:
    """One Python file of a tree: its path, its dotted name, its text."""

    path: Path
    name: str  # dotted, as an import would say it: outlive.model.tensor; a package bears its folder's name
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed file."""
        return ast.parse(self.text, filename=str(self.path))

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the parsed file: every check walks them, so the tree is walked once."""
        return tuple(ast.walk(self.tree))

    @cached_property
    def imports(self) -> tuple[tuple[int, str], ...]:
        """Line and dotted name of everything that is imported, lazily or not; `from a import b` is a.b."""
        return tuple(
            (getattr(node, "lineno", 0), name) for node in self.nodes for name in _imported_names(self, node)
        )

    @property
    def is_package(self) -> bool:
        """Whether this is the `__init__` of a folder."""
        return self.path.stem == "__init__"

    @property
    def line_count(self) -> int:
        """The number of lines in the file."""
        return len(self.text.splitlines())

    @property
    def package(self) -> str:
        """The part of the tree that the module belongs to: a folder, or a single file beside `__init__`."""
        parts = self.name.split(".")
        if parts[1:2] == ["platforms"]:
            return PLATFORM_PARTS.get("".join(parts[3:4]), "platforms")
        return parts[1] if len(parts) > 1 else "__init__"

    def at(self, line: int) -> str:
        """A place that a reader can click on."""
        return f"{self.path}:{line}"


def read_modules(root: Path) -> tuple[Module, ...]:
    """Every Python file below `root`, named as if `root` were the top package; sorted by path."""
    stats = ((path, path.stat()) for path in sorted(root.rglob("*.py")))
    return tuple(_read_module(root, path, stat.st_mtime_ns, stat.st_size) for path, stat in stats)


# A test that plants a fault may write the same file again: its time and size tell the two apart.
@cache
def _read_module(root: Path, path: Path, _mtime_ns: int, _size: int) -> Module:
    return Module(path=path, name=_dotted(root, path), text=path.read_text(encoding="utf-8"))


def _dotted(root: Path, path: Path) -> str:
    parts = [root.name, *path.relative_to(root).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(module: Module, known: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Line and name of each module of `known` that `module` imports, lazily or not, for types or for good."""
    for line, name in module.imports:
        target = longest_known(name, known)
        if target:
            yield line, target


def _imported_names(module: Module, node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        origin = _absolute(module, "." * node.level + (node.module or ""))
        yield from (f"{origin}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call) and _called_name(node) in {"import_module", "__import__"}:
        yield from (_absolute(module, word) for word in _strings(node.args[:1]))


def _called_name(call: ast.Call) -> str:
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _strings(nodes: list[ast.expr]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _absolute(module: Module, name: str) -> str:
    """`name` without leading dots: `..units` in outlive.model.tensor is outlive.units."""
    dots = len(name) - len(name.lstrip("."))
    if dots == 0:
        return name
    climbed = dots - 1 if module.is_package else dots
    home = module.name.split(".")
    return ".".join([*home[: len(home) - climbed], *filter(None, [name.lstrip(".")])])


def longest_known(name: str, known: frozenset[str]) -> str:
    """The module behind `from a.b import c`: a.b.c if that is a module, else a.b."""
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name
