"""Streamed metrics are those of a plain computation over all values at once, in both views."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive.quant.error_statistics import CandidateValues, ErrorStatistics, Grid
from tests.quant import brute
from tests.quant.networks import LAYERS, dense_float, dense_int8, ranges, samples, stretch, weights

CLIPPED = "layer1"


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A network, its int8 twin with a clipped layer, what outlive says of them, and all their values."""
    matrices, given = weights(), samples()
    reference = dense_float(matrices)
    candidate = dense_int8(matrices, given, stretch(CLIPPED, 0.5))
    drift = outlive.compare(reference, candidate, given)
    values = brute.all_values(reference, candidate, given, tmp_path_factory.mktemp("brute"))
    return matrices, given, drift, values


def scale_of(place: int, matrices: Any, given: Any) -> float:
    scale = ranges(matrices, given)[place + 1] / 127
    return scale * 0.5 if f"layer{place}" == CLIPPED else scale


def stacked(values: Any, side: str, name: str, count: int) -> Any:
    return np.stack([values[f"{side}|{name}|{number}"] for number in range(count)])


@pytest.mark.parametrize("place", range(LAYERS))
def test_accumulated_metrics_are_those_of_a_plain_computation(case: Any, place: int) -> None:
    matrices, given, drift, values = case
    [row] = [row for row in drift.tensors if row.name == f"layer{place}"]
    scale = np.float64(np.float32(scale_of(place, matrices, given)))
    raw = stacked(values, "candidate", row.name, len(given))
    wanted = stacked(values, "reference", row.name, len(given))
    expected = brute.metrics(wanted, raw * scale, raw, float(scale))
    assert row.metrics is not None
    assert row.metrics.as_dict() == pytest.approx(expected, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("place", range(LAYERS))
def test_born_here_metrics_are_those_of_the_layer_alone(case: Any, place: int) -> None:
    matrices, given, drift, values = case
    [row] = [row for row in drift.tensors if row.name == f"layer{place}"]
    scale = float(np.float32(scale_of(place, matrices, given)))
    before = "x_int8" if place == 0 else f"layer{place - 1}"
    before_scale = ranges(matrices, given)[0] / 127 if place == 0 else scale_of(place - 1, matrices, given)
    fed = stacked(values, "candidate", before, len(given)) * np.float64(np.float32(before_scale))
    wanted = fed.astype(np.float32) @ matrices[place].T
    raw = stacked(values, "candidate", row.name, len(given))
    expected = brute.metrics(wanted, raw * scale, raw, scale)
    assert row.born_here is not None
    # numpy and LiteRT add up float32 products in different orders.
    assert row.born_here.as_dict() == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_clipped_values_are_counted(case: Any) -> None:
    _, _, drift, _ = case
    shares = {row.name: row.born_here.saturated_share for row in drift.tensors if row.born_here is not None}
    assert shares[CLIPPED] > 0.05
    assert shares["layer0"] == 0
    assert [finding.code for finding in drift.findings if finding.code == "Q221"] == ["Q221"]


def test_the_metrics_of_tensorflow_are_averaged_over_samples() -> None:
    tally = ErrorStatistics()
    chance = np.random.default_rng(3)
    errors = [chance.standard_normal(50) for _ in range(4)]
    for error in errors:
        tally.add(np.zeros(50), error)
    found = tally.per_sample()
    assert found is not None
    assert found.num_elements == 50
    assert found.stddev == pytest.approx(np.mean([np.std(error) for error in errors]))
    assert found.max_abs_error == pytest.approx(np.mean([np.abs(error).max() for error in errors]))
    assert found.mean_squared_error == pytest.approx(np.mean([np.mean(error**2) for error in errors]))


def test_pieces_make_no_difference() -> None:
    chance = np.random.default_rng(4)
    wanted, found = chance.standard_normal(100_000), chance.standard_normal(100_000)
    raw = chance.integers(-128, 128, 100_000).astype(np.int8)
    tally = ErrorStatistics(grid=Grid(least=-128, most=127, scale=0.01, zero_point=0))
    tally.add(wanted, found, raw)
    metrics = tally.metrics()
    assert metrics is not None
    assert metrics.as_dict() == pytest.approx(brute.metrics(wanted, found, raw, 0.01), rel=1e-9)


@pytest.mark.parametrize("size", [1e-25, 1e-12, 1.0, 1e15, 1e25, 1e37])
@pytest.mark.parametrize("relative", [1e-3, 0.5])
def test_values_of_32_bits_lose_nothing_whatever_their_size(size: float, relative: float) -> None:
    chance = np.random.default_rng(5)
    wanted = (chance.standard_normal(300_001) * size).astype(np.float32)
    found = (wanted * (1 + relative * chance.standard_normal(wanted.size))).astype(np.float32)
    raw = chance.integers(-128, 128, wanted.size).astype(np.int8)
    tally = ErrorStatistics(grid=Grid(least=-128, most=127, scale=size / 40, zero_point=0))
    tally.add(wanted, found, raw)
    metrics = tally.metrics()
    assert metrics is not None
    assert metrics.as_dict() == pytest.approx(brute.metrics(wanted, found, raw, size / 40), rel=1e-6)


@pytest.mark.parametrize("offset", [0.0, 1.0, 30.0])
def test_the_deviation_of_errors_that_are_nearly_alike_is_right(offset: float) -> None:
    chance = np.random.default_rng(9)
    wanted = chance.standard_normal(200_000).astype(np.float32)
    found = wanted + (offset + 0.01 * chance.standard_normal(wanted.size)).astype(np.float32)
    tally = ErrorStatistics()
    tally.add(wanted, found)
    metrics = tally.metrics()
    assert metrics is not None
    error = (found - wanted).astype(np.float64)
    assert metrics.stddev == pytest.approx(np.std(error), rel=1e-6)
    assert metrics.mean_error == pytest.approx(np.mean(error), rel=1e-6, abs=1e-9)


def test_numpy_before_2_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(8)
    wanted = chance.standard_normal(100_000).astype(np.float32)
    now, then = ErrorStatistics(), ErrorStatistics()
    found = wanted + (0.01 * chance.standard_normal(wanted.size)).astype(np.float32)
    now.add(wanted, found)
    monkeypatch.delattr(np, "vecdot", raising=False)
    then.add(wanted, found)
    mine, other = now.metrics(), then.metrics()
    assert mine is not None
    assert other is not None
    known = {name: value for name, value in mine.as_dict().items() if value is not None}
    assert known == pytest.approx({name: other.as_dict()[name] for name in known}, rel=1e-6)


def test_both_views_share_what_is_known_of_the_values() -> None:
    chance = np.random.default_rng(6)
    found = chance.standard_normal(200_000).astype(np.float32)
    raw = chance.integers(-128, 128, found.size).astype(np.int8)
    grid, own = Grid(least=-128, most=127, scale=0.03, zero_point=0), CandidateValues(found, raw)
    for _ in range(2):
        wanted = chance.standard_normal(found.size).astype(np.float32)
        shared, alone = ErrorStatistics(grid=grid), ErrorStatistics(grid=grid)
        shared.hold(wanted, own)
        alone.add(wanted, found, raw)
        assert shared == alone


def test_what_is_not_finite_is_counted_and_left_out() -> None:
    tally = ErrorStatistics()
    tally.add(np.array([1.0, 2.0, np.nan, 4.0]), np.array([1.5, np.inf, 3.0, 4.0]))
    metrics = tally.metrics()
    assert metrics is not None
    assert (metrics.num_elements, metrics.not_finite) == (2, 2)
    assert metrics.mean_error == pytest.approx(0.25)


def test_one_value_that_is_not_finite_spoils_no_other() -> None:
    chance = np.random.default_rng(7)
    wanted = chance.standard_normal(200_000).astype(np.float32)
    found = wanted + np.float32(0.01)
    wanted[5], found[150_000] = np.inf, np.nan
    tally = ErrorStatistics()
    tally.add(wanted, found)
    metrics = tally.metrics()
    assert metrics is not None
    assert (metrics.num_elements, metrics.not_finite) == (199_998, 2)
    assert metrics.rmse == pytest.approx(0.01, rel=1e-3)
    assert metrics.reference_max < 10


def test_the_budget_divides_the_work_and_changes_no_number(case: Any, tmp_path: Path) -> None:
    matrices, given, drift, _ = case
    narrow = outlive.compare(
        dense_float(matrices),
        dense_int8(matrices, given, stretch(CLIPPED, 0.5)),
        iter(given),  # comes only once: later turns read what the first one kept
        memory=1800,
    )
    assert narrow.turns.count > 2
    assert narrow.samples == drift.samples
    assert narrow.tensors == drift.tensors
    assert narrow.outputs == drift.outputs
