"""What these tests leave to be done later, in a process that runs other tests after them, is not done."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from outlive.fleet.nest import NEST


@pytest.fixture(scope="module", autouse=True)
def _nobody_ends_workers_later() -> Iterator[None]:
    yield
    with NEST._lock:
        if NEST._timer is not None:
            NEST._timer.cancel()
            NEST._timer = None
