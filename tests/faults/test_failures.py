"""Every stage of every verb fails once: nothing is left of it. `make soak` has each fail 300 times."""

from __future__ import annotations

import time

import pytest

from outlive.guarding.pool import pool
from tests.deaths import scenes
from tests.deaths.restrictions import linux_only
from tests.faults.failures import FAILURES, SETTLE_S, fail

pytestmark = linux_only


def held() -> tuple[int, int, int]:
    """Without idle workers of guard: one more is started in the background when one has died."""
    pool.close()
    processes, descriptors, blocks = scenes.holdings()
    return len(processes), len(descriptors), blocks


@pytest.mark.parametrize("name", FAILURES)
def test_nothing_is_left_of_a_failure(name: str) -> None:
    fail(name)
    before = held()
    fail(name)
    end = time.monotonic() + SETTLE_S
    while grown(before, after := held()) and time.monotonic() < end:
        time.sleep(0.02)
    assert not grown(before, after), (before, after)


def grown(before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    return any(now > then for now, then in zip(after, before, strict=True))
