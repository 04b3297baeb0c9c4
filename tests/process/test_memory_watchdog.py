"""The memory watchdog: a worker may hold its limit and what its own part of a run takes, and no more."""

from __future__ import annotations

import pytest

from outlive.platforms.posix.child import memory_watchdog
from outlive.platforms.posix.child.memory_watchdog import OWN_BYTES, Watchdog

BASELINE, LIMIT, PROCESS = 40_000_000, 2_000_000, 4711


@pytest.mark.parametrize(("beyond", "caught"), [(OWN_BYTES, set()), (OWN_BYTES + 1, {PROCESS})])
def test_the_workers_own_part_does_not_count(
    monkeypatch: pytest.MonkeyPatch, beyond: int, caught: set[int]
) -> None:
    held = [BASELINE]
    monkeypatch.setattr(memory_watchdog, "held_bytes", lambda _: held[0])
    watchdog = Watchdog()
    assert watchdog.watch(PROCESS, LIMIT) == BASELINE
    held[0] = BASELINE + LIMIT + beyond
    assert set(watchdog.look()) == caught
