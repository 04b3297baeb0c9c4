"""Trends: what grows is found within its interval, and what only looks like it is not called growth."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from outlive.growth.trend import FEWEST_OF_ALL, Trend, fit_trend

KB, MB = 1000, 1_000_000
Level = Callable[[int, random.Random], float]


def measured_at(rounds: int) -> list[int]:
    """Which rounds a worker measures: all of the first 200, then one in a hundred."""
    found, at = [], 0
    while at < rounds:
        at += 1 if at < 200 else max(1, at // 100)
        found.append(at)
    return found


def trend(level: Level, rounds: int, seed: int = 0, fewest: int | None = None) -> Trend:
    """The trend of a made-up level of memory."""
    source = random.Random(seed)
    points = [(float(at), level(at, source)) for at in measured_at(rounds)]
    more = {} if fewest is None else {"fewest": fewest}
    return fit_trend(points, least=64, resolution=4096, grain=4096, **more)


def leak(size: float, spread: float = 0.0, start: int = 0) -> Level:
    return lambda at, source: size * max(0, at - start) + source.gauss(0, spread)


def walk(step: float) -> Level:
    state = [0.0]

    def level(at: int, source: random.Random) -> float:
        state[0] = (0.0 if at == 1 else state[0]) + source.gauss(0, step)
        return state[0]

    return level


@pytest.mark.parametrize("size", [1 * KB, 10 * KB, 100 * KB, 10 * MB])
@pytest.mark.parametrize("rounds", [40, 150, 300, 1200])
def test_a_plain_leak_is_found_within_its_interval(size: int, rounds: int) -> None:
    found = trend(leak(size), rounds)
    assert found.verdict == "grows"
    assert found.low <= size <= found.high
    assert found.high - found.low < 2 * max(4500, 0.1 * size)


@pytest.mark.parametrize("seed", range(20))
def test_a_leak_in_noise_is_found_within_its_interval(seed: int) -> None:
    found = trend(leak(10 * KB, spread=40 * KB), 300, seed)
    assert found.verdict == "grows"
    assert found.low <= 10 * KB <= found.high


def test_a_leak_that_begins_late_is_found() -> None:
    found = trend(leak(50 * KB, start=60), 300)
    assert found.verdict == "grows"
    assert found.low <= 50 * KB <= found.high


def test_one_jump_in_the_middle_does_not_change_the_rate() -> None:
    found = trend(lambda at, _: 10.0 * KB * at + (20 * MB if at > 170 else 0), 300)
    assert found.verdict == "grows"
    assert found.low <= 10 * KB <= found.high


def test_pages_and_heaps_grow_in_steps() -> None:
    found = trend(lambda at, _: at * 10 * KB // (132 * 1024) * 132 * 1024, 1200)
    assert found.verdict == "grows"
    assert found.low <= 10 * KB <= found.high


@pytest.mark.parametrize("spread", [4 * KB, 100 * KB, 2 * MB])
@pytest.mark.parametrize("rounds", [15, 40, 150, 1200])
def test_noise_is_never_growth(spread: int, rounds: int) -> None:
    found = {trend(leak(0, spread=spread), rounds, seed).verdict for seed in range(25)}
    assert "grows" not in found


@pytest.mark.parametrize("rounds", [15, 40, 300])
def test_wandering_is_never_growth(rounds: int) -> None:
    found = [trend(walk(40 * KB), rounds, seed).verdict for seed in range(100)]
    assert "grows" not in found


@pytest.mark.parametrize("period", [2, 7, 10, 25, 60, 100])
@pytest.mark.parametrize("rounds", [300, 1200])
def test_a_sawtooth_is_not_growth(period: int, rounds: int) -> None:
    assert trend(lambda at, _: at % period * 100.0 * KB, rounds).verdict != "grows"


@pytest.mark.parametrize("level", [lambda at, _: at % 25 * 100.0 * KB, leak(0, spread=MB)])
def test_what_always_comes_back_is_flat_and_not_left_open(level: Level) -> None:
    found = trend(level, 1200)
    assert found.verdict == "flat"
    assert found.above < 2048


@pytest.mark.parametrize("entries", [5, 40, 100, 200, 260])
def test_a_cache_that_is_full_is_not_growth(entries: int) -> None:
    assert trend(lambda at, _: min(at, entries) * 100.0 * KB, 300).verdict != "grows"
    assert trend(lambda at, _: min(at, entries) * 100.0 * KB, 1200).verdict == "flat"


@pytest.mark.parametrize("slowness", [10, 30, 100])
def test_what_levels_off_is_not_growth(slowness: int) -> None:
    def level(at: int, source: random.Random) -> float:
        return 10 * MB * (1 - math.exp(-at / slowness)) + source.gauss(0, 4 * KB)

    assert trend(level, 300).verdict != "grows"
    assert trend(level, 1200).verdict == "flat"


def test_growth_that_slows_down_like_a_logarithm_is_not_called_growth() -> None:
    assert all(
        trend(lambda at, _: MB * math.log(at), rounds).verdict != "grows" for rounds in (40, 300, 1200)
    )


def test_nothing_at_all_is_flat_to_the_grain() -> None:
    found = trend(lambda at, _: 5.0 * MB, 150)
    assert found.verdict == "flat"
    assert 0 < found.above <= 4096 / 90


def test_a_flat_verdict_needs_an_interval_that_is_worth_something() -> None:
    found = trend(leak(0, spread=2 * MB), 40)
    assert found.verdict == "unclear"
    assert found.above > 4096
    assert found.reason


def test_too_few_rounds_are_no_evidence() -> None:
    assert fit_trend([], least=1, resolution=1).verdict == "unclear"
    assert trend(leak(MB), 6).reason == "too few rounds were measured"


def test_where_no_more_can_be_had_few_rounds_may_do() -> None:
    assert trend(leak(80 * MB), 6, fewest=FEWEST_OF_ALL).verdict == "grows"
    shrinking = [(float(at), value) for at, value in enumerate([0, 90.0, 150.0, 190.0, 215.0, 230.0], 1)]
    assert fit_trend(shrinking, least=1, resolution=1, fewest=FEWEST_OF_ALL).verdict != "grows"
