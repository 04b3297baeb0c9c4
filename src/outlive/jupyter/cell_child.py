"""What a worker does with a cell of `%%outlive`: runs it on the names it was given, and hands names back."""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import linecache
import os
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

_VALUE = "_outlive_last_value"
# Where an exception carries the figures that were drawn before it.
FIGURES = "_outlive_figures"


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedNames:
    """The names to bring back: these `only`, or these and all that the code binds otherwise."""

    names: tuple[str, ...]
    only: bool


def run_cell(
    source: str, file: str, given: Mapping[str, Any], wanted: WantedNames, modules: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Run the code; the names that it assigned, its value, its figures, and what cannot be brought back.

    `modules` are those that what is given has as attributes in the kernel, and that the code uses so.
    """
    space: dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__, **given}
    # Tracebacks show lines of the cell as they show lines of files.
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    _draw_to_memory()
    for module in modules:
        with contextlib.suppress(ImportError):  # the code's own error says it better
            importlib.import_module(module)
    try:
        exec(compile(with_value(source), file, "exec"), space)
    except BaseException as error:
        _leave_figures(error)
        raise
    names = wanted.names if wanted.only else tuple(dict.fromkeys((*wanted.names, *_changed(space, given))))
    return {
        **_brought(space, names),
        "missing": [name for name in wanted.names if wanted.only and name not in space],
        "figures": figures(),
    }


def imported(name: str, parts: tuple[str, ...]) -> ModuleType:
    """A module, and those below it that were imported by their full names."""
    module = importlib.import_module(name)
    for part in parts:
        importlib.import_module(part)
    return module


def _changed(space: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    """The names that stand for something else than before, however the code did that."""
    own = (_VALUE, "__name__", "__builtins__", "__annotations__", "__warningregistry__")
    return [
        name
        for name, value in space.items()
        if name not in own and (name not in given or value is not given[name])
    ]


def _brought(space: Mapping[str, Any], wanted: tuple[str, ...]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    lost: dict[str, str] = {}
    modules: dict[str, str] = {}
    for name in wanted:
        if name not in space:
            continue
        value = space[name]
        if isinstance(value, ModuleType):
            modules[name] = value.__name__
        elif reason := why_not_sent(value):
            lost[name] = reason
        else:
            values[name] = value
    last = space.get(_VALUE)
    return {
        "values": values,
        "lost": lost,
        "modules": modules,
        "last": None if why_not_sent(last) else last,
        "said": repr(last) if last is not None and why_not_sent(last) else "",
    }


def with_value(source: str) -> ast.Module:
    """The code with its last expression kept, as a cell shows it; not after a semicolon."""
    tree = ast.parse(source)
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
        last = tree.body[-1]
        kept = ast.Assign(targets=[ast.Name(id=_VALUE, ctx=ast.Store())], value=last.value)
        tree.body[-1] = ast.copy_location(kept, last)
        ast.fix_missing_locations(tree)
    return tree


def why_not_sent(value: Any) -> str:
    """Why a value cannot leave the worker; empty if it can."""
    if value is None or type(value) in (int, float, str, bytes, bool):
        return ""
    numpy = sys.modules.get("numpy")
    if numpy is not None and type(value) is numpy.ndarray and not value.dtype.hasobject:
        return ""  # goes by shared memory
    import cloudpickle

    try:
        cloudpickle.dumps(value)
    except Exception as error:
        return f"{type(value).__name__}: {str(error)[:200]}"
    return ""


def _draw_to_memory() -> None:
    """Figures are drawn here and shown by the kernel: there is no window here."""
    if "matplotlib" not in sys.modules:
        os.environ["MPLBACKEND"] = "Agg"
    warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")


def figures() -> list[bytes]:
    """The open figures of matplotlib as PNG, if the cell has drawn any."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return []
    drawn = []
    try:
        for number in pyplot.get_fignums():
            page = io.BytesIO()
            pyplot.figure(number).savefig(page, format="png", bbox_inches="tight")
            drawn.append(page.getvalue())
    finally:
        pyplot.close("all")  # the next cell has this worker, and is not to show them
    return drawn


def _leave_figures(error: BaseException) -> None:
    """Give the figures drawn so far to the error, as a notebook shows them with it."""
    with contextlib.suppress(Exception):
        setattr(error, FIGURES, figures())
