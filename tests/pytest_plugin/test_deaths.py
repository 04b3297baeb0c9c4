"""Tests that segfault, abort, leave, hang, eat memory and pass: the right ones fail, and all are run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pytest_plugin.sessions import Ran, run_session

DEADLY = """\
import ctypes, os, sys
import pytest

pytestmark = pytest.mark.outlive

def test_first():
    assert os.getpid() != int(os.environ["MAIN"])

def test_segfault():
    print("said before the end")
    ctypes.string_at(0)

def test_after_segfault():
    pass

def test_abort():
    sys.stderr.write("terminate called after throwing an instance of 'shapes_differ'\\n")
    os.abort()

def test_leaves():
    os._exit(7)

@pytest.mark.outlive(seconds=1)
def test_hangs():
    while True:
        pass

@pytest.mark.outlive(memory="150MB")
def test_eats_memory():
    held = []
    while True:
        held.append(bytearray(10_000_000))

@pytest.mark.outlive(memory="150MB")
def test_within_memory():
    assert len(bytearray(20_000_000))

@pytest.fixture
def deadly():
    os.abort()

def test_dies_in_setup(deadly):
    pass

@pytest.fixture
def deadly_later():
    yield
    ctypes.string_at(0)

def test_dies_in_teardown(deadly_later):
    pass

@pytest.mark.xfail(reason="it does")
def test_expected_death():
    ctypes.string_at(0)

@pytest.mark.xfail(raises=ZeroDivisionError)
def test_another_end_than_expected():
    ctypes.string_at(0)

def test_fails():
    left, right = [1, 2, 3], [1, 2, 4]
    assert left == right

@pytest.mark.outlive(off=True)
def test_here():
    assert os.getpid() == int(os.environ["MAIN"])

def test_last():
    assert os.getpid() != int(os.environ["MAIN"])
"""
# In the main process, or in a worker of xdist, a test that is not guarded sees this process.
MAIN = """
import os
if "MAIN" not in os.environ or os.environ["WHO"] != os.environ.get("PYTEST_XDIST_WORKER", ""):
    os.environ["MAIN"] = str(os.getpid())
    os.environ["WHO"] = os.environ.get("PYTEST_XDIST_WORKER", "")
"""
EXPECTED = {
    "test_first": "passed",
    "test_segfault": "failed",
    "test_after_segfault": "passed",
    "test_abort": "failed",
    "test_leaves": "failed",
    "test_hangs": "failed",
    "test_eats_memory": "failed",
    "test_within_memory": "passed",
    "test_dies_in_setup": "error",
    "test_dies_in_teardown": "error",
    "test_expected_death": "xfailed",
    "test_another_end_than_expected": "failed",
    "test_fails": "failed",
    "test_here": "passed",
    "test_last": "passed",
}
# Deaths of a kind that the others show too: each costs a new worker.
QUICKER_WITHOUT = (
    "test_abort",
    "test_dies_in_setup",
    "test_dies_in_teardown",
    "test_another_end_than_expected",
)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The session in one process."""
    folder = tmp_path_factory.mktemp("alone")
    return run_session(folder, "--junitxml=junit.xml", files={"test_deadly.py": DEADLY}, conftest=MAIN)


def test_the_right_ones_fail(alone: Ran) -> None:
    assert alone.outcomes() == EXPECTED, alone.out
    assert alone.code == 1


def test_the_right_ones_fail_under_xdist(tmp_path: Path) -> None:
    chosen = [name for name in EXPECTED if name not in QUICKER_WITHOUT]
    words = ("-p", "xdist", "-n", "2", "-k", " or ".join(chosen))
    ran = run_session(tmp_path, *words, files={"test_deadly.py": DEADLY}, conftest=MAIN)
    assert ran.outcomes() == {name: EXPECTED[name] for name in chosen}, ran.out
    assert ran.code == 1
    assert "D504" in ran.failure("test_segfault")["text"]


def test_every_test_has_its_three_reports(alone: Ran) -> None:
    phases = {name: [row["when"] for row in alone.of(name)] for name in EXPECTED}
    assert phases.pop("test_dies_in_setup") == ["setup", "teardown"]
    assert {tuple(found) for found in phases.values()} == {("setup", "call", "teardown")}


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("test_segfault", "D504"),
        ("test_abort", "D505"),
        ("test_leaves", "D509"),
        ("test_hangs", "D503"),
        ("test_dies_in_setup", "D505"),
        ("test_dies_in_teardown", "D504"),
    ],
)
def test_a_death_is_diagnosed(alone: Ran, name: str, code: str) -> None:
    found = alone.failure(name)
    assert f"error[{code}]" in found["text"]
    assert ["outlive", code] in found["properties"]
    assert "GuardedCall" not in found["text"]


def test_the_summary_says_why_and_where(alone: Ran) -> None:
    line = next(
        line for line in alone.out.splitlines() if line.startswith("FAILED test_deadly.py::test_segfault")
    )
    assert "error[D504]" in line


def test_what_was_printed_before_a_death_is_shown(alone: Ran) -> None:
    assert ["Captured stdout call", "said before the end\n"] in alone.failure("test_segfault")["sections"]


def test_the_stack_is_shown_without_pytests_own(alone: Ran) -> None:
    stack = dict(alone.failure("test_segfault")["sections"])["Python stack at the end"]
    assert "test_deadly.py" in stack
    assert "string_at" in stack
    assert "_pytest" not in stack


def test_what_native_code_said_is_evidence(alone: Ran) -> None:
    assert "shapes_differ" in alone.failure("test_abort")["text"]


def test_memory_beyond_the_limit_is_an_error_of_the_test(alone: Ran) -> None:
    found = alone.failure("test_eats_memory")
    assert "MemoryError" in found["text"] or "D502" in found["text"]
    assert "150" in found["text"] + str(found["sections"])


def test_time_is_the_tests_own(alone: Ran) -> None:
    assert alone.failure("test_hangs")["seconds"] >= 1


def test_assertions_are_explained(alone: Ran) -> None:
    assert "At index 2 diff: 3 != 4" in alone.failure("test_fails")["text"]
