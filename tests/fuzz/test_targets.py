"""What the coverage-guided fuzzer is given works, and a bounded number of blind mutants passes it."""

from __future__ import annotations

import importlib
import random

import pytest

from tests.deaths.restrictions import linux_only
from tools.fuzz_coverage import TARGETS

pytestmark = linux_only
SEED, MUTANTS = 20261118, 1500


@pytest.mark.parametrize("name", TARGETS)
def test_blind_mutants(name: str) -> None:
    feeder = importlib.import_module(TARGETS[name].feeder)
    seeds = list(feeder.seeds())
    assert seeds
    for data in seeds:
        feeder.try_one(data)
    chance = random.Random(SEED)
    for _ in range(MUTANTS if name != "reader" else 50):  # the reader has tests of its own
        feeder.try_one(_damaged(chance.choice(seeds), chance))


def _damaged(data: bytes, chance: random.Random) -> bytes:
    damaged = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(damaged) + 1)
        how = chance.randrange(3)
        if how == 0:
            damaged[at : at + 1] = bytes([chance.randrange(256)])
        elif how == 1:
            del damaged[at : at + chance.randint(1, 8)]
        else:
            piece = chance.randrange(len(data))
            damaged[at:at] = data[piece : piece + chance.randint(1, 40)]
    return bytes(damaged)
