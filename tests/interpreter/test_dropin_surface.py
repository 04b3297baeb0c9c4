"""The drop-in answers as LiteRT does: the same values, and complaints of the same type and words."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from tests.interpreter import dropin_ask
from tests.interpreter.dropin_models import write_models
from tests.interpreter.dropin_shop import CALLS, COMPLAINTS, Shop

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("models")
    write_models(made)
    return made


@pytest.fixture(scope="module")
def litert(folder: Path) -> dict[str, Any]:
    """What LiteRT answers to all calls, asked in one process that is not this one."""
    output = folder / "answers.pickle"
    command = [
        sys.executable,
        "-m",
        dropin_ask.__name__,
        "ai_edge_litert.interpreter",
        str(folder),
        str(output),
    ]
    ended = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    answers: dict[str, Any] = pickle.loads(output.read_bytes())
    return answers


def same(ours: Any, theirs: Any) -> bool:
    """Equal in values, shapes and types."""
    if type(ours) is not type(theirs):
        return False
    if isinstance(theirs, np.ndarray):
        if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
            return False
        return bool(
            ours.tolist() == theirs.tolist() if theirs.dtype == object else ours.tobytes() == theirs.tobytes()
        )
    if isinstance(theirs, dict):
        return list(ours) == list(theirs) and all(same(ours[key], theirs[key]) for key in theirs)
    if isinstance(theirs, (list, tuple)):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return bool(ours == theirs)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_it_answers_as_litert(
    name: str, folder: Path, litert: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    answer = Shop(outlive.Interpreter, folder).outcome(CALLS[name])
    assert same(answer, litert[name]), f"\nours:   {answer}\nLiteRT: {litert[name]}"


def test_litert_gives_or_complains_as_planned(litert: dict[str, Any]) -> None:
    """Two exceptions that are alike prove nothing where a value was meant to be compared."""
    assert {name for name, answer in litert.items() if answer[0] == "raised"} == COMPLAINTS


def test_a_difference_is_seen() -> None:
    there = ("gave", [np.zeros(2, np.float32), {"dtype": np.float32}])
    assert same(there, there)
    assert not same(("gave", [np.zeros(2, np.float64), {"dtype": np.float32}]), there)
    assert not same(("gave", [np.zeros((1, 2), np.float32), {"dtype": np.float32}]), there)
    assert not same(("gave", [np.ones(2, np.float32), {"dtype": np.float32}]), there)
    assert not same(("gave", [np.zeros(2, np.float32), {"dtype": np.int32}]), there)
    assert not same(("raised", "ValueError", "no"), there)
