"""Where there are two cores, a worker can leave its caller's; whether it does: benchmarks/call_waiting.py."""

from __future__ import annotations

import os

import pytest

from outlive.platforms.posix.child import own_process
from outlive.platforms.posix.process import answer_wait

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="needs Linux and a second core",
)


@pytest.fixture
def affinities(monkeypatch: pytest.MonkeyPatch) -> list[set[int]]:
    """The cores that this thread was bound to, one after the other."""
    seen: list[set[int]] = []
    real = os.sched_setaffinity

    def bind(process: int, cores: set[int]) -> None:
        real(process, cores)
        seen.append(set(cores))

    monkeypatch.setattr(os, "sched_setaffinity", bind)
    return seen


def test_a_thread_leaves_a_core_and_may_run_where_it_could(affinities: list[set[int]]) -> None:
    allowed = os.sched_getaffinity(0)
    for core in sorted(allowed):
        own_process._move_off(0, core)
    assert affinities == [cores for core in sorted(allowed) for cores in (allowed - {core}, allowed)]


def test_a_core_that_it_is_not_on_is_not_left(affinities: list[set[int]]) -> None:
    own_process.leave_core(answer_wait._NO_CORE)
    assert affinities == []


def test_it_stays_where_it_must() -> None:
    core = min(os.sched_getaffinity(0))
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        own_process.leave_core(core)
        assert (own_process.this_core(), os.sched_getaffinity(0)) == (core, {core})
    finally:
        os.sched_setaffinity(0, allowed)
