"""Tests of workers count processes: those that other tests have started are ended first, or not counted."""

from __future__ import annotations

import pytest

from outlive.guarding.pool import pool
from outlive.process import factories
from tests.deaths import scenes


@pytest.fixture(autouse=True, scope="module")
def no_other_workers() -> None:
    pool.close()
    factories.close_factories()
    scenes.strangers.clear()
    scenes.strangers.update(scenes.children())
