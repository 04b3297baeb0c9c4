"""One name, one thing: classes, files; and no homely word where the field has one."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.house.modules import Module, read_modules

# Folders whose files may bear the name of a file elsewhere, and why that is the same noun or verb.
FAMILIES = {
    "verbs": "named after the verb",
    "cli/commands": "named after the verb",
    "rendering/pages": "named after the kind of result",
    "rendering/media": "named after the medium",
    "rendering/plots": "named after the kind of result",
    "rules": "one file per rule, and the facts that its family reads",
    "kernels": "the same operators, runtime by runtime",
}
# Nouns that several packages have a module of, and why it is the same noun.
SHARED_NOUNS: dict[str, str] = {
    "lifetimes": "from which operator to which a tensor lives, in the planner of each runtime",
    "main": "where a program begins: the command line, a worker",
    "operating_system": "the choice of the platform, for the parent and for its child processes",
    "planning": "the planner of each runtime",
}
# The list grows: a word that was replaced once stays out.
HOMELY_PARTS = frozenset(
    {"nobody", "whoever", "mend", "mended", "told", "untold", "upset", "desk", "shelf", "stock", "workshop"}
    | {"jury", "cage", "kitchen", "ledger"}
)
HOMELY_NAMES = frozenset(
    {"Asked", "Bench", "Calm", "Own", "Told", "Turns", "Wish", "_calm", "_minding", "_stand"}
)
HOMELY_MODULES = frozenset(["lining_up", "nouns", "quick", "swift", "telling", "turns", "weighing"])
HOMELY_PROSE = re.compile(
    r"\b(nobody|whoever|mend(?:s|ed|ing)?|what there is|is told|are told|it ends so)\b", re.IGNORECASE
)
_SEE_THE_MODULE = re.compile(r"see the module\b", re.IGNORECASE)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def class_names_used_twice(package: Path) -> list[str]:
    """Names that more than one class has, private and nested ones too."""
    places: dict[str, list[str]] = defaultdict(list)
    for module in read_modules(package):
        for node in module.nodes:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(module.at(node.lineno))
    return [
        f"{len(found)} classes are called {name}: {', '.join(found)}"
        for name, found in sorted(places.items())
        if len(found) > 1
    ]


def file_names_used_twice(package: Path) -> list[str]:
    """Names that more than one file has, but for the families, and nouns that are shared for a reason."""
    places: dict[str, list[Path]] = defaultdict(list)
    for module in read_modules(package):
        path = module.path.relative_to(package)
        if path.stem not in ("__init__", "__main__") and not path.as_posix().startswith(
            tuple(f"{folder}/" for folder in FAMILIES)
        ):
            places[path.stem].append(path)
    return [
        f"{len(found)} modules are called {name}: {', '.join(map(str, found))}"
        for name, found in sorted(places.items())
        if len(found) > 1 and name not in SHARED_NOUNS
    ]


def docstrings_that_point_away(package: Path) -> list[str]:
    """Docstrings that say no more than "See the module."."""
    return [
        f"{module.at(node.lineno)}: the docstring of {node.name} says nothing"
        for module in read_modules(package)
        for node in module.nodes
        if isinstance(node, _DEFINITIONS) and _SEE_THE_MODULE.match(ast.get_docstring(node) or "")
    ]


def homely_names(package: Path) -> list[str]:
    """Modules, classes, functions, parameters, variables and attributes that bear a homely name."""
    problems = []
    for module in read_modules(package):
        if module.path.stem in HOMELY_MODULES:
            problems.append(f"{module.path}: a module called {module.path.stem}")
        seen: set[str] = set()
        for line, name in _names(module):
            if name not in seen and _is_homely(name):
                seen.add(name)
                problems.append(f"{module.at(line)}: {name}")
    return problems


def homely_prose(package: Path) -> list[str]:
    """Docstrings and comments that say "nobody", "whoever", "mend" and the like."""
    return [
        f"{module.at(line)}: '{found.group()}' in {text.strip()[:90]!r}"
        for module in read_modules(package)
        for line, text in _prose(module)
        for found in HOMELY_PROSE.finditer(text)
    ]


def _is_homely(name: str) -> bool:
    parts = {word.lower() for word in _WORDS.findall(name)}
    return name in HOMELY_NAMES or bool(parts & HOMELY_PARTS)


def _names(module: Module) -> Iterator[tuple[int, str]]:
    """Each name that the module gives to something of its own, with its line."""
    for node in module.nodes:
        if isinstance(node, _DEFINITIONS):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr


def _prose(module: Module) -> Iterator[tuple[int, str]]:
    """Line and text of each docstring, line by line, and of each comment."""
    for node in module.nodes:
        if isinstance(node, (ast.Module, *_DEFINITIONS)) and ast.get_docstring(node) is not None:
            docstring = node.body[0]
            for number, line in enumerate(_lines(module, docstring.lineno, docstring.end_lineno)):
                yield docstring.lineno + number, line
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _lines(module: Module, first: int, last: int | None) -> list[str]:
    return module.text.splitlines()[first - 1 : last]
