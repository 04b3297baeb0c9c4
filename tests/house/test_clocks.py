"""Tests that depend on how busy the machine is are found."""

from __future__ import annotations

import pytest

from tests.house.clocks import (
    EXCEPTIONS,
    clock_assertions,
    short_limits,
    short_patience,
    stale_clock_exceptions,
)
from tests.house.conftest import Plant


@pytest.mark.parametrize(
    "lines",
    [
        "start = time.monotonic()\n    work()\n    assert time.monotonic() - start < 290",
        "start = time.perf_counter()\n    took = time.perf_counter() - start\n    assert took < 1",
        "before, start = held(), time.time()\n    assert held() and time.time() - start < 5",
        "end = time.monotonic() + 5\n    assert time.monotonic() < end",
    ],
)
def test_an_assertion_on_a_clock_is_found(plant: Plant, lines: str) -> None:
    (problem,) = clock_assertions(plant({"test_it.py": f"import time\ndef test_it():\n    {lines}\n"}))
    assert "asserts on a clock" in problem


@pytest.mark.parametrize(
    "lines",
    [
        "end = time.monotonic() + 300\n    while not done():\n        assert time.monotonic() < end",
        "made = left_behind(started=time.time() - 86_400)\n    assert made.exists()",
        "seen = []\n    moments.when(ready, seen.clear)\n    assert seen == []",
    ],
)
def test_other_assertions_are_left_alone(plant: Plant, lines: str) -> None:
    assert clock_assertions(plant({"test_it.py": f"import time\ndef test_it():\n    {lines}\n"})) == []


@pytest.mark.parametrize(
    "text",
    [
        "def test_it():\n    process.communicate(timeout=60)",
        "def test_it():\n    thread.join(30)",
        "import time\nSOON_S = 20\ndef test_it():\n    end = time.monotonic() + SOON_S",
        "def gone(pid: int, timeout_s: float = 20) -> bool: ...",
    ],
)
def test_little_patience_is_found(plant: Plant, text: str) -> None:
    (problem,) = short_patience(plant({"test_it.py": text}))
    assert "gives up after" in problem


def test_patience_is_left_alone(plant: Plant) -> None:
    text = "import time\ndef test_it(seconds):\n    process.wait(300)\n    end = time.monotonic() + seconds"
    assert short_patience(plant({"test_it.py": text})) == []


def test_a_short_limit_of_what_ends_by_itself_is_found(plant: Plant) -> None:
    text = "SOON_S = 9\ndef test_it():\n    outlive.guard(add, seconds=SOON_S)(1, 2)"
    (problem,) = short_limits(plant({"test_it.py": text}))
    assert "a limit of 9 s" in problem


@pytest.mark.parametrize(
    "what", ["guard(add, seconds=300)(1, 2)", "run(endless(), seconds=1)", "fit(m, seconds=1)"]
)
def test_limits_that_are_far_or_to_be_reached_are_left_alone(plant: Plant, what: str) -> None:
    assert short_limits(plant({"test_it.py": f"def test_it():\n    outlive.{what}"})) == []


def test_an_exception_that_nothing_needs_is_found(plant: Plant) -> None:
    assert stale_clock_exceptions(plant({"test_it.py": ""})) == sorted(EXCEPTIONS)
