"""Planted differences between entry points are found."""

from __future__ import annotations

import argparse
import inspect
from pathlib import Path
from typing import Any

import pytest

import outlive
from outlive.cli.main import COMMANDS, build_parser
from tests.house.conftest import Plant
from tests.house.entry_points import (
    COMMAND_LINE_ONLY,
    imports_past_the_verbs,
    option_differences,
    verbs_that_modules_replace,
)

SOURCE = Path(outlive.__file__).parent
# What only one side has, and why.
ALLOWED: dict[str, dict[str, str]] = {
    "read": {
        "ops": "a list to show: a program has model.operators()",
        "tensors": "a list to show: a program has model.tensors()",
        "graph": "a list to show",
        "sparsity": "shown with the file; a program calls read_files",
        "measure": "goes with --sparsity",
    },
    "plan": {"devices": "the old spelling of `outlive devices`"},
    "export": {"tflm": "the old name of target"},
    "convert": {"setting": "how a command line spells **settings"},
    "fit": {"tolerance": "the old name of max_loss", "every": "the old name of all"},
    "guard": {
        "fresh": "for functions that are called again; a script runs once",
        "recycle": "for functions that are called again; a script runs once",
    },
    "quantize": {"until": "bounds of any metric, or a function; the command has --until-sqnr and its like"},
    "scan": {"devices": "the old name of device", "tolerances": "the three shares in one object"},
}


def _verb(name: str) -> str:
    return {"exec": "execute"}.get(name, name)


SHARED = sorted(set(COMMANDS) - COMMAND_LINE_ONLY)


@pytest.mark.parametrize("name", SHARED)
def test_a_command_and_its_verb_take_the_same(name: str) -> None:
    parser = build_parser()
    (commands,) = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    verb = getattr(outlive, _verb(name), None)
    assert callable(verb), f"outlive.{_verb(name)} is missing"
    problems = option_differences(name, commands.choices[name], verb, ALLOWED.get(name, {}))
    assert problems == []


def test_every_verb_is_a_command() -> None:
    programs_only = {"probe", "watch", "quantize_input", "dequantize_output", "debug"}
    offered = {name: getattr(outlive, name) for name in outlive.__all__}
    verbs = {name for name, thing in offered.items() if _is_verb(thing)}
    assert verbs - programs_only - {_verb(name) for name in SHARED} == set()
    assert {_verb(name) for name in SHARED} <= verbs


def _is_verb(thing: object) -> bool:
    return inspect.isfunction(thing) and thing.__module__.startswith("outlive.verbs.")


def test_every_subpackage_leaves_the_verbs_callable() -> None:
    assert verbs_that_modules_replace([_verb(name) for name in SHARED], SOURCE.parent) == []


def test_entry_points_go_through_the_verbs() -> None:
    assert imports_past_the_verbs(SOURCE) == []


def test_a_module_in_a_verbs_place_is_found(tmp_path: Path) -> None:
    package = tmp_path / "outlive"
    (package / "report").mkdir(parents=True)
    (package / "__init__.py").write_text("def report(): ...\ndef read(): ...\n", encoding="utf-8")
    (package / "report" / "__init__.py").write_text("", encoding="utf-8")
    assert verbs_that_modules_replace(["read", "report"], tmp_path) == ["report"]


def test_an_import_past_the_verbs_is_found(plant: Plant) -> None:
    files = {"verbs/__init__.py": "", "rendering/__init__.py": "", "arena/plan.py": "", "units.py": ""}
    fine = plant({**files, "cli/main.py": "from outlive import verbs, units\nimport outlive.rendering"})
    assert imports_past_the_verbs(fine) == []
    bad = plant({**files, "jupyter/cards.py": "def late():\n    from outlive.arena.plan import Plan"})
    (problem,) = imports_past_the_verbs(bad)
    assert "jupyter imports outlive.arena.plan" in problem


def _planted(*words: str, **defaults: Any) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    for word in words:
        parser.add_argument(word, default=defaults.get(word.strip("-").replace("-", "_")))
    return parser


def test_planted_differences_of_options_are_found() -> None:
    def verb(source: str, *, ram: str | None = None, inputs: Any = (), batch: int = 1) -> None: ...

    same = _planted("--ram", "--input", "--batch", "--format", batch=1)
    assert option_differences("x", same, verb, {}) == []
    more = _planted("--ram", "--input", "--batch", "--here", batch=1)
    assert option_differences("x", more, verb, {}) == ["outlive x --here is no parameter of outlive.x"]
    assert option_differences("x", more, verb, {"here": "a reason"}) == []
    less = _planted("--input", "--batch", batch=1)
    assert option_differences("x", less, verb, {}) == ["outlive.x(ram=) is no option of outlive x"]
    other = _planted("--ram", "--input", "--batch", batch=2)
    (problem,) = option_differences("x", other, verb, {})
    assert "batch of x is 2 on the command line, and 1 in Python" in problem
