"""The example in the docstring of every verb is run, on the demo models."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import outlive
from outlive.verbs.demo import copy_demo_models

VERBS = [
    name
    for name in outlive.__all__
    if inspect.isfunction(getattr(outlive, name))
    and getattr(outlive, name).__module__.startswith("outlive.verbs.")
]


def examples_of(verb: Callable[..., Any]) -> doctest.DocTest:
    text = inspect.getdoc(verb) or ""
    return doctest.DocTestParser().get_doctest(text, {"outlive": outlive}, verb.__name__, None, 0)


def failures(test: doctest.DocTest) -> str:
    """What the examples print that they should not; empty if they hold."""
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    runner.run(test, out=said.append)
    return "".join(said)


@pytest.mark.parametrize("name", VERBS)
def test_the_example_of_a_verb_holds(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OUTLIVE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OUTLIVE_BLACKBOX_DIR", str(tmp_path / "records"))
    list(copy_demo_models("."))
    test = examples_of(getattr(outlive, name))
    assert test.examples, f"help(outlive.{name}) shows no example"
    assert failures(test) == ""


def test_an_example_that_does_not_hold_is_found() -> None:
    test = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    assert "Expected:\n    3\nGot:\n    2\n" in failures(test)
