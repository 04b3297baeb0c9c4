"""The parts of a search, each by itself: the order, the loss, the samples for changed models, the memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import outlive
from outlive import demo_models
from outlive.arena.budget import Budget
from outlive.cache import ResultCache
from outlive.finding import Tag
from outlive.fitting import Candidate, Fit, Outcome, Shortage, evaluation, search
from outlive.fitting.candidate_builder import Built
from outlive.fitting.candidates import RECIPES, SearchSpace, rounds_for, settings_for, smaller_batches
from outlive.fitting.conclusions import best, with_front
from outlive.fitting.evaluation import LimitedRuns, MeasuredRun, _recalled
from outlive.fitting.load_script import loading_snippet
from outlive.fitting.loss import (
    CHOICE,
    REAL,
    WHOLE,
    OutputComparison,
    OutputsIncomparable,
    loss_by_score,
    output_kinds,
)
from outlive.fitting.predictor import Predictor, count_arguments, load_metric, scaled
from outlive.fitting.search import make_goal, parse_share
from outlive.process.flight import Flight
from outlive.rendering import page_of
from outlive.rendering.media.notebook import card_bundle
from outlive.rendering.picture import svg
from outlive.rendering.plots.fit import marks
from outlive.verbs.judging import JUDGE

HEALTHY = outlive.read(demo_models.path("healthy"))
USUAL = settings_for(None, None)


def outcome(rank: int, **fields: Any) -> Outcome:
    usual: dict[str, Any] = {"verdict": "fits", "measured_peak_bytes": 10, "file_bytes": 10, "loss": 0.0}
    return Outcome(candidate=Candidate(), rank=rank, **{**usual, **fields})


def test_rounds_change_more_and_more() -> None:
    rounds = list(rounds_for(HEALTHY, SearchSpace(settings=USUAL, trimmed=True)))
    assert [one.title for one in rounds] == [
        "settings",
        "smaller numbers",
        "smaller images",
        "smaller images and numbers",
    ]
    assert {one.tag for one in rounds[0].candidates} == {Tag.SAME_RESULTS}
    assert {one.tag for one in rounds[1].candidates} == {Tag.CHANGES_MODEL}
    assert {one.tag for one in rounds[2].candidates} == {Tag.CHANGES_RESULTS}
    assert rounds[0].candidates[0] == Candidate(), "the file as it is comes first"
    assert [one.recipe for one in rounds[1].candidates[:: len(USUAL)]] == list(RECIPES)
    every = [one for offered in rounds for one in offered.candidates]
    assert len(every) == len(set(every)) > 50


def test_settings_are_the_ones_asked_for() -> None:
    assert [one.setting for one in USUAL] == ["XNNPACK", "XNNPACK, weight cache", "builtin kernels"]
    assert [one.accelerator for one in settings_for("reference", 2)] == ["reference"]
    assert settings_for(None, 4)[-1].setting == "builtin kernels, 1 thread"


def test_a_batch_is_halved_where_inputs_share_one() -> None:
    shared = outlive.read(demo_models.path("healthy"))
    assert smaller_batches(shared) == ()
    [picture] = shared.inputs
    several = replace(shared.subgraphs[0], tensors=tuple(
        replace(one, shape=(12, *one.shape[1:])) if one.index == picture.index else one
        for one in shared.subgraphs[0].tensors
    ))  # fmt: skip
    assert smaller_batches(replace(shared, subgraphs=(several,))) == (6, 3, 1)


def test_the_least_loss_wins_and_then_the_cheapest() -> None:
    rows = [
        outcome(0, verdict="does not fit", loss=0.0),
        outcome(1, loss=0.2),
        outcome(2, loss=0.1),
        outcome(3, loss=0.1),
        outcome(4, loss=None),
    ]
    found = best(rows)
    assert found is not None
    assert found.rank == 2
    unknown = best(rows[4:])
    assert unknown is not None, "what fits is better than nothing, even if its loss is not known"
    assert unknown.rank == 4
    assert best(rows[:1]) is None


def test_among_equals_one_that_is_smaller_and_quicker_wins() -> None:
    rows = with_front([
        outcome(0, loss=0.1, measured_peak_bytes=30, milliseconds=9.0),
        outcome(1, loss=0.1, measured_peak_bytes=20, milliseconds=1.0),
        outcome(2, loss=0.2, measured_peak_bytes=10, milliseconds=0.5),
    ])  # fmt: skip
    found = best(rows)
    assert found is not None
    assert found.rank == 1


def test_the_front_is_what_no_other_beats() -> None:
    rows = [
        outcome(0, measured_peak_bytes=30, loss=0.0),
        outcome(1, measured_peak_bytes=20, loss=0.1),
        outcome(2, measured_peak_bytes=25, loss=0.1),
        outcome(3, measured_peak_bytes=20, loss=0.1),
        outcome(4, measured_peak_bytes=1, loss=None),
        outcome(5, measured_peak_bytes=40, file_bytes=5, loss=0.1),
    ]
    assert [one.rank for one in with_front(rows) if one.on_front] == [0, 1, 5]


def test_loss_of_choices_whole_and_real_numbers() -> None:
    judging = OutputComparison((CHOICE, WHOLE, REAL))
    wanted = [np.array([[0.9, 0.1]]), np.array([1, 2, 3, 4]), np.array([3.0, 4.0])]
    judging.add(wanted, [np.array([[0.8, 0.2]]), np.array([1, 2, 3, 4]), np.array([3.0, 4.0])])
    assert judging.loss().loss == 0
    assert judging.loss().sqnr_db is not None
    judging.add(wanted, [np.array([[0.4, 0.6]]), np.array([1, 2, 3, 4]), np.array([3.0, 4.0])])
    assert judging.loss().loss == 0.5
    assert judging.loss().agreement == 0.5
    whole = OutputComparison((WHOLE,))
    whole.add([np.array([1, 2, 3, 4])], [np.array([1, 2, 3, 5])])
    assert whole.loss().loss == 0.25
    real = OutputComparison((REAL,))
    real.add([np.array([3.0, 4.0])], [np.array([3.0, 4.5])])
    assert real.loss().loss == pytest.approx(0.1)
    assert real.loss().sqnr_db == pytest.approx(20.0)


def test_numbers_that_are_none_lose_everything() -> None:
    judging = OutputComparison((REAL,))
    judging.add([np.array([1.0])], [np.array([math.nan])])
    assert judging.loss().loss == 1.0
    with pytest.raises(OutputsIncomparable, match="2x2 instead of 4x4"):
        OutputComparison((REAL,)).add([np.ones((4, 4))], [np.ones((2, 2))])


def test_a_better_score_is_no_negative_loss() -> None:
    assert loss_by_score(0.9, 0.95).loss == 0.0
    assert loss_by_score(0.9, 0.8).loss == pytest.approx(0.1)


def test_outputs_are_told_apart_by_how_they_are_made() -> None:
    assert output_kinds(HEALTHY) == (CHOICE,)
    assert output_kinds(outlive.read(demo_models.path("healthy_int8"))) == (CHOICE,)


def test_pictures_are_averaged() -> None:
    picture = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    assert scaled(picture, (1, 2, 2, 1)).ravel().tolist() == [2.5, 4.5, 10.5, 12.5]
    three = scaled(np.ones((2, 8, 8, 3), np.uint8), (1, 3, 5, 3))
    assert three.shape == (2, 3, 5, 3)
    assert three.dtype == np.uint8
    assert three.min() == three.max() == 1
    assert scaled(picture, (1, 4, 4, 1)) is picture


class Doubling:
    """An engine that takes two rows at a time and doubles them."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        row = {"name": "x", "index": 0, "shape": [2, 3], "dtype": np.float32}
        self._row = {**row, "quantization_parameters": {"scales": [], "zero_points": []}}

    def allocate_tensors(self) -> None: ...

    def get_input_details(self) -> list[dict[str, Any]]:
        return [self._row]

    def get_output_details(self) -> list[dict[str, Any]]:
        return [{**self._row, "index": 1}]

    def set_tensor(self, index: int, value: Any) -> None:
        assert value.shape == (2, 3)
        self.calls.append(value)

    def invoke(self) -> None: ...

    def get_tensor(self, index: int) -> Any:
        return 2 * self.calls[-1]


def test_a_batch_is_run_in_portions_and_joined() -> None:
    engine = Doubling()
    batch = np.arange(18, dtype=np.float32).reshape(6, 3)
    [found] = Predictor(engine, ["x"])([batch])
    assert (found == 2 * batch).all()
    assert len(engine.calls) == 3
    [same] = Predictor(engine, ["x"])({"x": batch})
    assert (same == found).all()
    with pytest.raises(ValueError, match="no value for input 'x'"):
        Predictor(engine, ["x"])({"y": batch})


def test_what_is_known_decides_without_a_run() -> None:
    seen = MeasuredRun(peak_bytes=100, fits_at=150, fails_at=120)
    verdicts = [seen.fits(ram) for ram in (99, 110, 120, 130, 150, 1000)]
    assert verdicts == [False, False, False, None, True, True]
    assert MeasuredRun(problem="refused").fits(10**9) is False
    assert MeasuredRun().fits(10) is None


def test_it_fits_only_if_it_ran_under_the_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    limits: list[int | None] = []

    def fly(inputs: str, repeat: int, seed: int, *, memory: int | None, **options: Any) -> Flight:
        """It touches 400,000 bytes, and asks the system for 700,000."""
        limits.append(memory)
        starved = memory is not None and memory < 700_000
        return Flight(died=starved, stage="invoke", peak_bytes=400_000, stages=(("invoke", 0.002),))

    monkeypatch.setattr(evaluation, "record_run", fly)
    built = Built(path=str(demo_models.path("healthy")), model=HEALTHY)
    runs = LimitedRuns(ResultCache(tmp_path / "cache"), JUDGE)
    verdicts = {
        ram: runs.measure(built, Candidate(), ram).fits(ram)
        for ram in (10**6, 500_000, 600_000, 399_999, 800_000, 2 * 10**6)
    }
    assert verdicts == {
        10**6: True,
        500_000: False,
        600_000: False,
        399_999: False,
        800_000: True,
        2 * 10**6: True,
    }
    # What is known already is not tried again: less than it touches, and more than it ran in.
    assert limits == [10**6, 500_000, 600_000, 800_000]
    again = LimitedRuns(ResultCache(tmp_path / "cache"), JUDGE)
    assert again.measure(built, Candidate(), 800_000).fits(800_000)
    assert len(limits) == 4
    other = runs.measure(built, Candidate(accelerator="builtin"), 600_000)
    assert (other.fits(600_000), other.peak_bytes) == (False, 400_000)
    assert limits[4:] == [600_000, None], "how much it would take is found out without a limit"


def test_what_is_close_has_to_fit_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    peaks = iter((950_000, 1_010_000, 900_000, 1_010_000))

    def fly(*_: Any, **options: Any) -> Flight:
        return Flight(died=False, stage="done", peak_bytes=next(peaks), stages=(("invoke", 0.002),))

    monkeypatch.setattr(evaluation, "record_run", fly)
    built = Built(path=str(demo_models.path("healthy")), model=HEALTHY)
    seen = LimitedRuns(ResultCache(None), JUDGE).measure(built, Candidate(), 10**6)
    assert seen.fits(10**6) is False


def test_that_a_run_took_too_long_is_not_remembered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(evaluation, "_SECONDS", 1e-6)
    built = Built(path=str(demo_models.path("healthy")), model=HEALTHY)
    slow = LimitedRuns(ResultCache(tmp_path / "cache"), JUDGE).measure(built, Candidate(), 10**9)
    assert slow.fits(10**9) is False
    # A quick machine is done before its end comes; then it is only late.
    assert slow.late or "deadline" in slow.problem or "SIGABRT" in slow.problem
    monkeypatch.undo()
    assert LimitedRuns(ResultCache(tmp_path / "cache"), JUDGE).measure(built, Candidate(), 10**9).fits(10**9)


def test_notes_that_make_no_sense_are_forgotten() -> None:
    assert _recalled({"peak_bytes": 5, "fits_at": 7}) == MeasuredRun(peak_bytes=5, fits_at=7)
    assert _recalled({"peak_bytes": "many"}) == MeasuredRun()
    assert _recalled({"surprise": 1}) == MeasuredRun()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({}, "give the available memory"),
        ({"ram": "8MB", "device": "raspberry-pi-pico"}, "not both"),
        ({"ram": "0"}, "leaves no memory"),
        ({"ram": "some"}, "not a size"),
        ({"ram": "1MB", "flash": 0}, "leaves no memory"),
        ({"ram": "1MB", "max_loss": "many"}, "not a share"),
        ({"ram": "1MB", "max_loss": 2}, "between 0% and 100%"),
        ({"ram": "1MB", "seconds": 0}, "more than 0"),
        ({"ram": "1MB", "jobs": 0}, "1 or more"),
        ({"ram": "1MB", "accelerator": "gpu"}, "unknown accelerator 'gpu'"),
        ({"ram": "1MB", "metric": "accuracy"}, "file.py:function"),
        ({"ram": "1MB", "metric": "nowhere.py:accuracy"}, "cannot be read"),
        ({"device": "raspberry-pi-pico", "accelerator": "builtin"}, "TensorFlow Lite Micro"),
        ({"device": "raspberry-pi-picoo"}, "did you mean"),
    ],
)
def test_what_cannot_be_asked_is_told(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make_goal(judge=JUDGE, **wrong)


def test_shares_are_read_as_people_write_them() -> None:
    assert [parse_share(word) for word in ("1%", " 0.5 % ", "0.01", 0.02, 0)] == [0.01, 0.005, 0.01, 0.02, 0]


@pytest.mark.parametrize(
    ("function", "count"), [(lambda predict: 1, 1), (lambda outputs, samples: 1, 2), (lambda p, k=1: 1, 1)]
)
def test_metrics_are_called_as_they_are_written(function: Callable[..., float], count: int) -> None:
    assert count_arguments(function) == count


def test_a_metric_that_cannot_be_called_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="needs 3 values"):
        count_arguments(lambda a, b, c: 1)
    (tmp_path / "own.py").write_text("value = 1\ndef score(predict):\n    return 1\n")
    assert load_metric(f"{tmp_path / 'own.py'}:score")(None) == 1
    with pytest.raises(ValueError, match="no function 'value'"):
        load_metric(f"{tmp_path / 'own.py'}:value")


@pytest.mark.parametrize(
    "candidate",
    [
        Candidate(),
        Candidate(accelerator="builtin", threads=2),
        Candidate(weight_cache=True),
        Candidate(accelerator="tflm"),
        Candidate(accelerator="reference"),
    ],
    ids=str,
)
def test_snippets_are_python(candidate: Candidate) -> None:
    budget = Budget(kind="ram", title="the RAM granted", ram_bytes=10**6, source="--ram")
    chosen = Outcome(candidate=candidate, verdict="fits", peak_bytes=1000)
    text = loading_snippet(chosen, budget, "it's a model.tflite")
    compile(text, "load.py", "exec")
    assert "it's a model.tflite" in text.replace("'\"'\"'", "'")


def test_the_card_says_what_the_terminal_says() -> None:
    budget = Budget(kind="ram", title="<b>mine</b>", ram_bytes=10**6, source="--ram")
    chosen = outcome(0, peak_bytes=5, notes=("output '<script>' becomes smaller",))
    fit = Fit(
        chosen=chosen, candidates=(chosen,), budget=budget, source="m\x1b[31m.tflite", snippet="print(1)"
    )
    card = card_bundle(page_of(fit))
    assert "o-good" in card["text/html"]
    assert "<script>" not in card["text/html"]
    assert "<b>mine" not in card["text/html"]
    assert "print(1)" in card["text/html"]
    assert "\x1b" not in card["text/plain"]
    assert "fits: unchanged" in card["text/plain"]
    nothing = replace(fit, chosen=None, shortage=Shortage(smallest=chosen, op=3, op_type="CONV_2D"))
    card = card_bundle(page_of(nothing))
    assert "o-bad" in card["text/html"]
    assert "operator 3, CONV_2D" in card["text/plain"]


def test_a_picture_can_be_drawn_of_anything() -> None:
    budget = Budget(kind="ram", title="the RAM granted", ram_bytes=10**6, source="--ram")
    rows = tuple(
        outcome(rank, loss=loss, measured_peak_bytes=size, on_front=True)
        for rank, (loss, size) in enumerate([(0.0, 10), (1e-9, 5), (None, 10**9), (1.0, 1), (0.3, 10**6)])
    )
    for fit in (
        Fit(chosen=None, candidates=(), budget=budget),
        Fit(chosen=rows[0], candidates=rows, budget=budget, source="<x>&.tflite", loss_by="<&>"),
    ):
        picture = svg(list(marks(fit)))
        ElementTree.fromstring(picture)
        assert "budget" in picture


@pytest.mark.parametrize(
    "words",
    [
        {"max_loss": "2%", "all": True, "inputs": ["1x64x64x3"]},
        {"tolerance": 0.02, "every": True, "inputs": {"": (1, 64, 64, 3)}},
    ],
)
def test_options_have_the_commands_names_and_their_old_ones(
    words: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(search, "search", lambda model, goal, origin: seen.append(goal))
    outlive.fit(demo_models.path("healthy"), ram="1MB", **words)
    assert [(goal.max_loss, goal.every) for goal in seen] == [(0.02, True)]
