"""Every entry point goes through the verbs, which have the same options in Python and on the command line."""

from __future__ import annotations

import argparse
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.house.modules import imports_of, read_modules

ENTRY_POINTS = ("cli", "jupyter", "pytest_plugin")
# What entry points may import beside themselves: verbs, what draws results, and the words all packages share.
OPEN_TO_ALL = frozenset(
    {
        "verbs",
        "rendering",
        "finding",
        "errors",
        "units",
        "names",
        "version",
        "atomic_files",
        "system_features",
        "__init__",
    }
)
COMMAND_LINE_ONLY = frozenset({"notebook", "demo", "help", "completion"})
# How a result is shown, and where: no matter of the verb.
PRESENTATION = frozenset(
    {
        "help",
        "format",
        "output",
        "verbose",
        "quiet",
        "plot",
        "also",
        "open",
        "exit_code",
        "top",
        "list",
        "csv",
        "node_data",
    }
)
# Parameters that only a program can give: callbacks, and other ways to say memory= and seconds=.
PROGRAMS_ONLY = frozenset({"tell", "limits", "options", "settings", "metrics"})
# An option that may be given several times stands for a parameter in the plural.
PLURAL = {"input": "inputs", "input_shape": "input_shapes"}


def imports_past_the_verbs(package: Path) -> list[str]:
    """Imports of entry points that go past the verbs."""
    modules = {module.name: module for module in read_modules(package)}
    known = frozenset(modules)
    return [
        f"{module.at(line)}: {module.package} imports {target}; call a verb, or have rendering draw it"
        for module in modules.values()
        if module.package in ENTRY_POINTS
        for line, target in imports_of(module, known)
        if modules[target].package not in {module.package, *OPEN_TO_ALL}
    ]


def option_differences(
    name: str,
    parser: argparse.ArgumentParser,
    verb: Callable[..., Any],
    allowed: Mapping[str, str],
) -> list[str]:
    """Options of a command that its verb does not take, or takes with another default; and the reverse.

    `allowed` are options or parameters that only one side has, with the reason.
    """
    options = {
        PLURAL.get(action.dest, action.dest): action
        for action in parser._actions
        if action.option_strings and action.dest not in PRESENTATION
    }
    signature = inspect.signature(verb)
    parameters = {
        parameter.name: parameter
        for position, parameter in enumerate(signature.parameters.values())
        if parameter.name not in PROGRAMS_ONLY | PRESENTATION
        and (position > 0 or parameter.kind is parameter.KEYWORD_ONLY)
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }
    positional = {action.dest for action in parser._actions if not action.option_strings}
    return [
        *(f"outlive {name} --{one} is no parameter of outlive.{name}" for one in options
          if one not in parameters and one not in allowed),
        *(f"outlive.{name}({one}=) is no option of outlive {name}" for one in parameters
          if one not in options and one not in positional and one not in allowed),
        *_other_defaults(name, options, parameters, allowed),
    ]  # fmt: skip


def _other_defaults(
    name: str,
    options: Mapping[str, argparse.Action],
    parameters: Mapping[str, inspect.Parameter],
    allowed: Mapping[str, str],
) -> Iterator[str]:
    for one in options.keys() & parameters.keys() - allowed.keys():
        there, here = _plain(options[one].default), _plain(parameters[one].default)
        if there != here:
            yield f"{one} of {name} is {there!r} on the command line, and {here!r} in Python, by default"


def _plain(default: object) -> object:
    """A default as both sides mean it: nothing given is nothing, however it is written."""
    empty = default is None or (isinstance(default, (list, tuple, dict)) and not default)
    return None if empty else default


_IMPORT_ALL = """
import importlib, json, pkgutil, sys
import outlive
for found in pkgutil.walk_packages(outlive.__path__, "outlive."):
    if ".child" not in found.name and "_child" not in found.name and "__main__" not in found.name:
        try:
            importlib.import_module(found.name)
        except ImportError:
            pass  # what is not installed here
print(json.dumps([verb for verb in sys.argv[1:] if not callable(getattr(outlive, verb, None))]))
"""


def verbs_that_modules_replace(verbs: list[str], source: Path) -> list[str]:
    """Verbs that are no longer callable once every subpackage has been imported."""
    done = subprocess.run(
        [sys.executable, "-c", _IMPORT_ALL, *verbs],
        env={**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found
