"""Options reach guarded tests as they were given, whatever they are; what cannot reach them is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pytest_plugin.sessions import run_session

CONFTEST = """
import enum

class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"

class Stubborn:
    def __init__(self, word):
        self.word = word
    def __reduce__(self):
        raise TypeError("it stays where it is")

def pytest_addoption(parser):
    parser.addoption("--level", type=Level, default=Level.LOW)
    parser.addoption("--other", type=Level, default=Level.LOW)
    parser.addoption("--stubborn", type=Stubborn, default=Stubborn("usual"))
    parser.addoption("--into", type=__import__("argparse").FileType("w"))
"""
TEST = """
import pytest
from conftest import Level

@pytest.mark.outlive
def test_guarded(pytestconfig):
    assert pytestconfig.getoption("level") is Level.HIGH
    assert pytestconfig.getoption("other") is Level.LOW

def test_here(pytestconfig):
    assert pytestconfig.getoption("level") is Level.HIGH
"""


def test_values_of_a_users_own_class_arrive(tmp_path: Path) -> None:
    words = ("--level", "high", "--into", str(tmp_path / "into.txt"))
    ran = run_session(tmp_path, *words, files={"test_a.py": TEST}, conftest=CONFTEST)
    assert ran.outcomes() == {"test_guarded": "passed", "test_here": "passed"}, ran.out


def test_what_cannot_be_carried_is_told_before_anything_runs(tmp_path: Path) -> None:
    ran = run_session(
        tmp_path, "--level", "high", "--stubborn", "x", files={"test_a.py": TEST}, conftest=CONFTEST
    )
    assert ran.code == 4
    assert "the value of --stubborn cannot be carried to a worker" in ran.out
    assert "it stays where it is" in ran.out
    assert "Traceback" not in ran.out


@pytest.mark.parametrize("word", ["--pdb", "--trace"])
def test_debuggers_need_the_test_here(tmp_path: Path, word: str) -> None:
    ran = run_session(tmp_path, word, "--level", "high", files={"test_a.py": TEST}, conftest=CONFTEST)
    assert ran.code == 4
    assert f"{word} needs tests in this process" in ran.out
    assert "--no-outlive" in ran.out
