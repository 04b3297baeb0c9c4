"""Where there are two cores, a burst of calls uses both: nobody stands where the other one works."""

from __future__ import annotations

import os
import threading

import pytest

from outlive.process.child.posix import own_process
from outlive.process.posix import answer_wait
from tests.deaths import scenes

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="needs Linux and a second core",
)


def moves(core: int | None) -> tuple[int, int, bool]:
    """Where a thread of its own runs before and after it leaves a core; whether it may run where it could."""
    seen: list[tuple[int, int, bool]] = []

    def leave() -> None:
        allowed, before = os.sched_getaffinity(0), own_process.this_core()
        own_process.leave_core(before if core is None else core)
        seen.append((before, own_process.this_core(), os.sched_getaffinity(0) == allowed))

    thread = threading.Thread(target=leave)
    thread.start()
    thread.join()
    return seen[0]


def test_a_thread_leaves_a_core() -> None:
    # A busy system may move it back before it looks, but not each time.
    found = [moves(None) for _ in range(20)]
    assert any(before != after for before, after, _ in found)
    assert all(free for *_, free in found)


def test_a_core_that_it_is_not_on_is_not_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_setaffinity", lambda *_: pytest.fail("moved"))
    assert moves(answer_wait._NO_CORE)[2]


def test_it_stays_where_it_must() -> None:
    core = min(os.sched_getaffinity(0))
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        own_process.leave_core(core)
        assert (own_process.this_core(), os.sched_getaffinity(0)) == (core, {core})
    finally:
        os.sched_setaffinity(0, allowed)


_BURSTS = """
from pathlib import Path
interpreter = open_healthy()
core = min(os.sched_getaffinity(0))
os.sched_setaffinity(0, {core})  # the program; its worker may run anywhere
apart = 0
for _ in range(20):
    time.sleep(0.05)  # the worker falls asleep, and is woken on the core of the one that wakes it
    for _ in range(40):
        interpreter.invoke()
    where = int(Path(f"/proc/{interpreter.pid}/stat").read_text().rpartition(")")[2].split()[36])
    apart += where != core
say(apart=apart)
"""


def test_a_burst_of_calls_uses_both() -> None:
    # All of the twenty; at most five if the worker stays where it was woken.
    assert scenes.play(_BURSTS)["apart"] >= 10
