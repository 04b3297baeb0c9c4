"""How often a test repeats itself: a few times in `make test`, many times in `make soak`."""

from __future__ import annotations

import os

import pytest

SOAK = "OUTLIVE_SOAK"
# Marks the tests that `make soak` runs again with more rounds (tools/run_soak.py, the part repeats).
repeats = pytest.mark.repeats


def rounds(few: int, *, soak: int) -> int:
    """The number of rounds: `few`, or `soak` where `make soak` runs the test."""
    return soak if os.environ.get(SOAK) else few


def each_round(few: int, *, soak: int) -> pytest.MarkDecorator:
    """The test once for each round, its number given as `round_number`; mark it with `repeats`, too."""
    return pytest.mark.parametrize("round_number", range(rounds(few, soak=soak)))
