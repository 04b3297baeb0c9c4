"""Searches on networks that recognise digits: what is chosen fits, costs what it says, and is the best."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from benchmarks.fit_networks import Trained, trained
from outlive import demo_models
from outlive.arena.devices import find_device
from outlive.cache import ResultCache
from outlive.errors import InputError
from outlive.finding import Tag
from outlive.fitting import Candidate, Fit, Outcome, candidate_builder, candidates
from outlive.fitting.evaluation import SLACK_BYTES, SLACK_SHARE, engine_arguments
from outlive.fitting.predictor import SampleSet
from outlive.interpreter.interpreter_options import ACCELERATORS
from outlive.interpreter.recorded_run import record_run
from outlive.units import format_shape
from outlive.verbs.judging import JUDGE
from tests.quant.networks import dense_float, weights

FAMILIES = ("mobilenet", "keyword_spotter")
MORE = 10**9
# Runs differ by some pages.
ROOM = 100_000


@pytest.fixture(scope="module", autouse=True)
def half_the_sides() -> Iterator[None]:
    """Pictures in one size instead of five: each is like the others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "_SIDES", (4,))
        yield


@cache
def digits(family: str) -> Trained:
    """A small trained network."""
    return trained(family, width=16 if family == "keyword_spotter" else 8, held_out=48)


@cache
def everything(family: str) -> Fit:
    """All candidates of a network, with more memory than any needs."""
    return search(family, MORE, all=True)


def search(family: str, ram: int, **options: Any) -> Fit:
    """A search by accuracy; the one with pictures, which has more candidates, with one kind of kernels."""
    one = digits(family)
    usual = {"accelerator": "builtin"} if family == "mobilenet" else {}
    return outlive.fit(one.model, ram=ram, samples=one.samples, metric=one.accuracy(), **{**usual, **options})


def budgets(family: str) -> list[int]:
    """Room for all candidates; not quite enough for the model as it is; and for hardly any of them."""
    rows = [row for row in everything(family).candidates if row.fits and not row.candidate.weight_cache]
    peaks = sorted(row.measured_peak_bytes or 0 for row in rows)
    same = min(row.measured_peak_bytes or 0 for row in rows if row.candidate.tag is Tag.SAME_RESULTS)
    assert peaks[0] < 0.8 * same
    return [int(1.1 * peaks[-1]) + ROOM, int(0.9 * same), int(1.1 * peaks[0]) + ROOM]


def runs_within(fit: Fit, folder: Path) -> None:
    """The chosen file runs in a worker that has the budget and no more, and takes what was said."""
    chosen = fit.chosen
    assert chosen is not None
    fit.save(folder / "chosen.tflite")
    settings = engine_arguments(chosen.candidate, str(folder / "weights"))
    path = folder / "chosen.tflite"
    flight = record_run("zeros", 1, 0, judge=JUDGE, model_path=path, memory=fit.budget.ram_bytes, **settings)
    assert not flight.died
    assert not flight.error_type
    assert flight.peak_bytes is not None
    assert flight.peak_bytes <= fit.budget.ram_bytes
    assert chosen.measured_peak_bytes is not None
    assert chosen.peak_bytes is not None
    allowed = max(SLACK_BYTES, SLACK_SHARE * chosen.peak_bytes)
    assert abs(chosen.measured_peak_bytes - chosen.peak_bytes) <= allowed


def accuracy_of(model: bytes, accelerator: str, one: Trained) -> float:
    """How many digits it finds, counted here and by nobody else; pictures at its own size."""
    right = 0
    resolver = ACCELERATORS[accelerator]
    with outlive.Interpreter(model_content=model, experimental_op_resolver_type=resolver) as engine:
        engine.allocate_tensors()
        [given], [made] = engine.get_input_details(), engine.get_output_details()
        step = one.samples[0].shape[1] // given["shape"][1]
        for sample, label in zip(one.samples, one.labels, strict=True):
            shape = (1, given["shape"][1], step, given["shape"][2], -1, 1)
            smaller = sample.reshape(shape).mean((2, 4), dtype=np.float64) if step > 1 else sample
            engine.set_tensor(given["index"], smaller.astype(np.float32))
            engine.invoke()
            right += int(engine.get_tensor(made["index"]).argmax() == label)
    return right / len(one.samples)


def test_the_networks_know_digits() -> None:
    for family in FAMILIES:
        score = everything(family).original_score
        assert score is not None
        assert score > 0.8, f"{family} was not trained"


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("place", range(3))
def test_the_chosen_one_fits_and_is_the_best(family: str, place: int, tmp_path: Path) -> None:
    one, ram = digits(family), budgets(family)[place]
    fit = search(family, ram)
    chosen = fit.chosen
    assert chosen is not None
    assert chosen.fits
    runs_within(fit, tmp_path)
    better = [row for row in fit.candidates if row.fits and row.loss is not None and row.loss < chosen.loss]
    assert not better
    assert fit.original_score is not None
    steps = chosen.candidate.inputs
    if not chosen.candidate.weight_cache and not (steps and 32 % steps[0][1][1]):
        again = accuracy_of(fit.model, chosen.candidate.accelerator, one)
        assert chosen.score == pytest.approx(again, abs=1e-12)
        assert chosen.loss == pytest.approx(max(0.0, fit.original_score - again), abs=1e-12)


def test_every_refusal_has_its_reason() -> None:
    fit = everything("mobilenet")
    assert {row.candidate.tag for row in fit.candidates} == set(Tag)
    assert all(row.reason for row in fit.candidates if not row.fits)
    assert not [row for row in fit.candidates if row.verdict == "not tried"]
    fitting = [row for row in fit.candidates if row.fits]
    assert all(row.measured_peak_bytes and row.file_bytes and row.milliseconds for row in fitting)
    recipes = {row.candidate.recipe for row in fitting}
    assert {"", "fp16", "dynamic-int8", "static-int8"} <= recipes
    assert [row for row in fitting if row.candidate.kept], "layers that hurt are left float as well"
    assert [row for row in fitting if row.candidate.inputs]


def test_the_front_holds_the_smallest_and_the_best() -> None:
    fit = everything("mobilenet")
    ran = [row for row in fit.candidates if row.loss is not None]
    front = {row.rank for row in fit.front}
    assert min(ran, key=lambda row: (row.measured_peak_bytes, row.loss)).rank in front
    assert min(ran, key=lambda row: (row.file_bytes, row.loss, row.measured_peak_bytes)).rank in front
    assert fit.chosen is not None
    assert fit.chosen.loss == 0


def verdicts_at(ram: int) -> dict[str, Outcome]:
    found = search("keyword_spotter", ram, all=True, accelerator="builtin")
    return {str(row.candidate): row for row in found.candidates}


def test_between_two_peaks_the_verdict_flips() -> None:
    rows = [row for row in verdicts_at(MORE).values() if row.fits and row.measured_peak_bytes]
    small, large = (choose(rows, key=lambda row: row.measured_peak_bytes) for choose in (min, max))
    assert small.measured_peak_bytes
    assert large.measured_peak_bytes
    middle = (small.measured_peak_bytes + large.measured_peak_bytes) // 2
    for ram, fits in ((large.measured_peak_bytes - 1, False), (middle, False), (MORE, True)):
        found = verdicts_at(ram)
        assert found[str(large.candidate)].fits is fits, ram
        assert ram < middle or found[str(small.candidate)].fits, ram
    assert not verdicts_at(small.measured_peak_bytes - 1)[str(small.candidate)].fits


def test_another_budget_needs_nothing_to_be_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    everything("mobilenet")

    def never(*_: Any) -> None:
        raise AssertionError("it was built again")

    monkeypatch.setattr(candidate_builder, "quantize_model", never)
    assert search("mobilenet", budgets("mobilenet")[1]).chosen is not None
    with pytest.raises(AssertionError, match="built again"):
        search("mobilenet", MORE, all=True, cache=False)


def test_a_microcontroller_is_planned_to_the_byte() -> None:
    one = digits("keyword_spotter")
    pico = find_device("raspberry-pi-pico")
    every = outlive.fit(one.model, device=pico, samples=one.samples, all=True)
    ran = [row for row in every.candidates if row.fits and row.peak_bytes is not None]
    assert len({row.peak_bytes for row in ran}) > 1
    assert any("not run on a microcontroller" in note for note in every.notes)
    large, small = max(row.peak_bytes for row in ran), min(row.peak_bytes for row in ran)
    for ram in (large, large - 1, small, small - 1):
        device = replace(pico, ram_bytes=ram, largest_block_bytes=None)
        fit = outlive.fit(one.model, device=device, samples=one.samples, all=True)
        for row in fit.candidates:
            known = row.peak_bytes is not None and row.verdict != "refused"
            assert not known or row.fits == (row.peak_bytes <= ram), row
        assert (fit.chosen is None) == (ram < small)
        if fit.chosen is not None:
            plan = outlive.plan(fit.model, "tflm", kernels=pico.kernels)
            assert plan.min_arena_bytes is not None
            assert plan.min_arena_bytes <= ram
            assert plan.min_arena_bytes == fit.chosen.peak_bytes
    tiny = replace(pico, flash_bytes=min(row.file_bytes or MORE for row in ran) - 1)
    fit = outlive.fit(one.model, device=tiny, samples=one.samples)
    assert fit.chosen is None
    assert all("flash" in row.reason for row in fit.candidates if row.verdict == "does not fit")


def test_nothing_fits_and_it_says_why() -> None:
    fit = outlive.fit(digits("keyword_spotter").model, ram="20KB")
    assert fit.chosen is None
    assert fit.model == b""
    shortage = fit.shortage
    assert shortage is not None
    needed = [row.needed_bytes for row in fit.candidates if row.needed_bytes is not None]
    assert shortage.smallest.needed_bytes == min(needed)
    assert shortage.lower_bound_bytes is not None
    assert 20_000 < shortage.lower_bound_bytes <= min(needed)
    assert shortage.op_type
    assert shortage.tensors
    assert shortage.needed_changes
    with pytest.raises(ValueError, match="nothing fits"):
        fit.save("nowhere.tflite")


def test_a_batch_is_made_smaller_before_numbers_are(tmp_path: Path) -> None:
    one = trained("mobilenet", width=8, batch=8, held_out=48)
    whole = outlive.plan(one.model).peak_bytes
    assert whole is not None
    fit = outlive.fit(one.model, ram=int(0.6 * whole), samples=one.samples, accelerator="cpu")
    assert fit.chosen is not None
    assert fit.chosen.candidate.batch in (4, 2)
    assert fit.chosen.candidate.tag is Tag.CHANGES_RESULTS
    assert fit.chosen.loss == 0
    [tensor] = outlive.read(fit.model).inputs
    assert tensor.shape == (fit.chosen.candidate.batch, 32, 32, 1)
    assert {row.candidate.recipe for row in fit.candidates} == {""}
    runs_within(fit, tmp_path)


def test_a_batch_to_start_from_can_be_asked_for() -> None:
    one = digits("mobilenet")
    fit = outlive.fit(one.model, ram=MORE, batch=16)
    assert fit.chosen is not None
    assert [shape for _, shape in fit.chosen.inputs] == [(16, 32, 32, 1)]
    assert fit.is_indicative
    assert any("indicative only" in note for note in fit.notes)


def test_waste_is_removed_without_a_loss() -> None:
    path = demo_models.path("wasteful")
    fit = outlive.fit(path, ram=MORE, flash=outlive.read(path).file_bytes - 1)
    assert fit.chosen is not None
    assert fit.chosen.candidate.trimmed
    assert fit.chosen.candidate.tag is Tag.SAME_RESULTS
    assert fit.chosen.loss == 0
    assert len(fit.model) < outlive.read(path).file_bytes


def test_pictures_are_made_smaller_only_where_outputs_go_on_meaning_the_same(tmp_path: Path) -> None:
    dots = outlive.read(trained("deeplab", width=8, held_out=16).model)
    one, part = builder(dots, tmp_path), (("t0", (1, 16, 16, 1)),)
    same = one.build(Candidate(inputs=part))  # it enlarges to fixed sizes
    assert [shape for _, shape in same.inputs] == [(1, 16, 16, 1)]
    assert same.outputs == one.build(Candidate()).outputs
    maker = dots.subgraphs[0].operators[dots.subgraphs[0].producers()[dots.outputs[0].index]]
    before = outlive.cut(dots, outputs=[maker.inputs[0] - 4]).model  # ahead of what enlarges
    smaller = builder(outlive.read(before), tmp_path).build(Candidate(inputs=part))
    assert any("instead of" in note for note in smaller.notes)
    rigid = builder(outlive.read(dense_float(weights(1, 256))), tmp_path)
    with pytest.raises(candidate_builder.NotBuilt):
        rigid.build(Candidate(inputs=(("x", (1, 128)),)))


def builder(model: outlive.Model, folder: Path) -> candidate_builder.CandidateBuilder:
    return candidate_builder.CandidateBuilder(
        model, SampleSet(None, model, folder / "samples", JUDGE), ResultCache(None), folder
    )


def test_a_quantized_model_is_not_quantized_again() -> None:
    fit = outlive.fit(demo_models.path("healthy_int8"), ram="20KB", accelerator="builtin")
    said = {row.reason for row in fit.candidates if row.candidate.recipe}
    assert said == {"it is already quantized"}


def test_a_loss_that_is_too_much_is_not_chosen() -> None:
    rows = [row for row in everything("mobilenet").candidates if row.fits and row.loss]
    assert rows
    fit = search("mobilenet", MORE, tolerance=0, all=True)
    over = [row for row in fit.candidates if row.verdict == "loses too much"]
    assert {str(row.candidate) for row in rows} == {str(row.candidate) for row in over}
    assert all("more than 0.000%" in row.reason for row in over)


def test_both_kinds_of_metrics_agree(tmp_path: Path) -> None:
    one = digits("keyword_spotter")
    labels = one.labels.tolist()

    def of_outputs(outputs: list[Any], samples: list[Any]) -> float:
        return sum(int(out.argmax() == label) for out, label in zip(outputs, labels, strict=True)) / len(
            labels
        )

    np.savez(tmp_path / "known.npz", samples=np.stack(one.samples), labels=one.labels)
    (tmp_path / "metric.py").write_text(
        "import numpy as np\nfrom pathlib import Path\n"
        "known = np.load(Path(__file__).with_name('known.npz'))\n"
        "def accuracy(predict):\n"
        "    pairs = zip(known['samples'], known['labels'])\n"
        "    return np.mean([predict(sample).argmax() == label for sample, label in pairs])\n"
    )
    metrics: tuple[Callable[..., float] | str, ...] = (
        one.accuracy(),
        of_outputs,
        f"{tmp_path / 'metric.py'}:accuracy",
    )
    found = {
        outlive.fit(one.model, ram=MORE, samples=one.samples, metric=metric).original_score
        for metric in metrics
    }
    assert len(found) == 1


def test_a_metric_that_fails_is_told_in_its_own_words() -> None:
    def broken(predict: Any) -> float:
        raise KeyError("no labels")

    def silly(predict: Any) -> str:
        return "good"

    one = digits("keyword_spotter")
    with pytest.raises(ValueError, match="KeyError: 'no labels'"):
        outlive.fit(one.model, ram=MORE, metric=broken)
    with pytest.raises(ValueError, match="not a number"):
        outlive.fit(one.model, ram=MORE, metric=silly)


def test_samples_that_cannot_be_used_are_refused() -> None:
    one = digits("keyword_spotter")
    bad = [np.full(one.samples[0].shape, np.nan, np.float32)]
    with pytest.raises(InputError):
        outlive.fit(one.model, ram=MORE, samples=bad)


def test_time_that_is_up_ends_it_with_what_is_known() -> None:
    one = digits("mobilenet")
    fit = outlive.fit(one.model, ram="1KB", seconds=0.01, cache=False)
    assert fit.stopped == "seconds"
    assert fit.chosen is None
    assert any(row.reason == "time limit reached" for row in fit.candidates)


def test_an_interruption_ends_it_with_what_is_known() -> None:
    one = digits("mobilenet")

    def interrupt(words: str) -> None:
        if words.startswith("2 of "):
            raise KeyboardInterrupt

    fit = outlive.fit(one.model, ram=MORE, all=True, tell=interrupt)
    assert fit.stopped == "interrupted"
    assert fit.chosen is not None
    assert len(fit.candidates) == 2


def test_side_by_side_finds_the_same() -> None:
    alone, together = (search("mobilenet", budgets("mobilenet")[1], jobs=jobs) for jobs in (1, 3))
    assert alone.chosen is not None
    assert together.chosen is not None
    assert alone.chosen.candidate == together.chosen.candidate
    assert [str(row.candidate) for row in alone.candidates] == [
        str(row.candidate) for row in together.candidates
    ]


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    outlive.fit(demo_models.path("healthy"), ram=MORE)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("outlive-fit")]


def test_shapes_are_written_into_the_file() -> None:
    rows = [row for row in everything("mobilenet").candidates if row.candidate.inputs and row.fits]
    assert rows
    for row in rows:
        assert [format_shape(shape) for _, shape in row.inputs] == [
            format_shape(shape) for _, shape in row.candidate.inputs
        ]
