"""What these tests leave to be done later, in a process that runs other tests after them, is not done."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from outlive.fleet.local_engine import WORKER_LIFETIME


@pytest.fixture(scope="module", autouse=True)
def _nobody_ends_workers_later() -> Iterator[None]:
    yield
    with WORKER_LIFETIME._lock:
        if WORKER_LIFETIME._timer is not None:
            WORKER_LIFETIME._timer.cancel()
            WORKER_LIFETIME._timer = None
