"""Tests of workers count processes: what other tests of the same run have started is ended first."""

from __future__ import annotations

import pytest

from outlive.worker import nurseries
from outlive.worker.guards.pool import pool


@pytest.fixture(autouse=True, scope="module")
def no_other_workers() -> None:
    pool.close()
    nurseries.close_hatcheries()
