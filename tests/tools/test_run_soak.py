"""`make soak` may be cut off at any time: the next one goes on, and what is done is not done again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools import run_soak
from tools.run_soak import State


def three_steps(state: State) -> None:
    """A part of three steps, of which a session without time does one."""
    steps = state.body.setdefault("steps", [])
    while len(steps) < 3:
        steps.append(len(steps))
        state.save()
        if not state.left_s:
            return
    state.body |= {"done": True, "holds": True}


def broken(state: State) -> None:
    state.body |= {"done": True, "holds": False}


@pytest.fixture
def soak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(run_soak, "RESULTS", tmp_path / "results")
    (tmp_path / "results").mkdir()
    monkeypatch.setattr(run_soak, "PARTS", {"steps": three_steps, "broken": broken})
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, parts: str, minutes: str) -> int:
    words = ["run_soak.py", "--parts", parts, "--minutes", minutes, "--folder", str(folder / "state")]
    monkeypatch.setattr("sys.argv", words)
    return run_soak.main()


def test_the_next_session_goes_on(soak: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = soak / "results" / "soak_steps.json"
    for done in range(1, 3):
        assert run(monkeypatch, soak, "steps", "0") == 0
        assert json.loads(result.read_text())["steps"] == list(range(done))
    assert run(monkeypatch, soak, "steps", "1") == 0
    whole = json.loads(result.read_text())
    assert (whole["steps"], whole["done"], whole["holds"]) == ([0, 1, 2], True, True)
    result.unlink()
    assert run(monkeypatch, soak, "steps", "1") == 0
    assert not result.exists()  # it is whole, and was not done again


def test_what_does_not_hold_is_told_each_time(soak: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [run(monkeypatch, soak, "broken,steps", "1") for _ in range(2)] == [1, 1]
