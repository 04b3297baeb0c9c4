"""What a search says is so: of arenas, losses, signatures, shapes and time, and of what it does not know."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive import demo_models
from outlive.arena.budget import Budget
from outlive.arena.devices import find_device
from outlive.cache import ResultCache
from outlive.finding import Tag
from outlive.fitting import evaluation
from outlive.fitting.candidate_builder import Built
from outlive.fitting.conclusions import find_shortage
from outlive.fitting.evaluation import EvaluatedCandidate, Evaluation, LimitedRuns, engine_arguments
from outlive.fitting.fit_result import Candidate, Fit, Loss, Outcome
from outlive.fitting.load_script import loading_snippet, stale_caches
from outlive.fitting.loss import loss_by_score
from outlive.fitting.predictor import Predictor
from outlive.process.flight import Flight
from outlive.rendering.pages.fit import loss_words
from outlive.verbs.judging import JUDGE
from tests.arena.sketches import MIB, sketch
from tests.interpreter.dropin_models import graph, model, op
from tests.model.small import tensor
from tests.quant.networks import dense_float
from tests.rendering.stage import drawn
from tests.surgery import cut_models

SPOTTER = Path(__file__).resolve().parents[2] / "examples" / "models" / "keyword_spotter.tflite"
INT8 = demo_models.path("healthy_int8")
MORE = "1GB"
BUDGET = Budget(kind="ram", title="the RAM granted", ram_bytes=10**6, source="--ram")


def relus(*names: str, width: int = 4, **fields: Any) -> dict[str, Any]:
    tensors = [tensor(name, "FLOAT32", [1, width], **fields) for name in names]
    return graph(tensors, [0], [2], op(0, [0], [1]), op(0, [1], [2]))


def told(fit: Fit) -> str:
    return drawn(fit)


def test_a_weight_cache_is_never_that_of_another_model(tmp_path: Path) -> None:
    chosen = Outcome(candidate=Candidate(weight_cache=True), verdict="fits", peak_bytes=1)
    text = loading_snippet(chosen, BUDGET, "m.tflite", beside=True)
    lines = (
        "import numpy as np",
        "inputs[0].write(np.ones(64, np.float32))",
        "model.run_by_index(0, inputs, outputs)",
        "print(outputs[0].read(64, np.float32)[0])",
    )
    (tmp_path / "load.py").write_text(text + "\n".join(lines))
    for factor in (1.0, 3.0):
        content = dense_float([np.full((64, 64), factor / 64, np.float32) for _ in range(2)])
        (tmp_path / "m.tflite").write_bytes(content)
        done = subprocess.run(
            [sys.executable, str(tmp_path / "load.py")], cwd="/", capture_output=True, text=True, check=True
        )
        assert float(done.stdout.split()[-1]) == pytest.approx(factor**2)
    caches = sorted(tmp_path.glob("*.weights"))
    assert len(caches) == 2
    (tmp_path / "mine.weights").touch()
    digest = outlive.read(tmp_path / "m.tflite").sha256
    assert len(stale_caches(tmp_path / "m.tflite", digest)) == 1
    assert sorted(stale_caches(tmp_path / "m.tflite", "0" * 64)) == caches


def test_threads_are_measured_as_they_are_written_down() -> None:
    candidate = Candidate(weight_cache=True, threads=3)
    order = engine_arguments(candidate, "somewhere")["_compiled"]
    assert "'num_threads': 3" in str(order)
    assert "num_threads=3" in loading_snippet(
        Outcome(candidate=candidate, verdict="fits", peak_bytes=1), BUDGET
    )


def test_an_arena_has_room_for_variables_and_a_margin(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(cut_models.counting())
    fit = outlive.fit(tmp_path / "m.tflite", ram="64KB", accelerator="tflm")
    assert fit.chosen is not None
    assert fit.chosen.peak_bytes is not None
    planned = outlive.plan(fit.model, "tflm").min_arena_bytes
    assert planned is not None
    assert fit.chosen.peak_bytes > planned
    assert fit.chosen.arena_bytes is not None
    assert fit.chosen.arena_bytes >= fit.chosen.peak_bytes + 256
    assert f"ARENA_BYTES = {fit.chosen.arena_bytes} " in fit.snippet
    close = outlive.fit(tmp_path / "m.tflite", ram=fit.chosen.peak_bytes, accelerator="tflm")
    assert close.chosen is not None
    assert close.chosen.verdict == "tight"
    assert "--margin 0%" in close.snippet
    assert (
        outlive.fit(tmp_path / "m.tflite", ram=fit.chosen.peak_bytes - 1, accelerator="tflm").chosen is None
    )


def test_an_arena_that_no_bank_holds_does_not_fit() -> None:
    board = find_device("nucleo-h743zi2")
    arena = outlive.fit(INT8, device=board).candidates[0].arena_bytes
    assert arena is not None
    for block, fits in ((arena, True), (arena - 1, False)):
        fit = outlive.fit(INT8, device=replace(board, largest_block_bytes=block))
        assert fit.candidates[0].fits == fits
    assert "one block" in fit.candidates[0].reason
    nothing = outlive.fit(INT8, device=replace(board, largest_block_bytes=1024))
    assert nothing.chosen is None
    assert nothing.shortage is not None
    assert any("no memory bank" in change for change in nothing.shortage.needed_changes)


def test_signatures_that_are_not_looked_at_are_named(tmp_path: Path) -> None:
    keys = ("decode", "prefill")
    ends = {"inputs": [{"name": "x", "tensor_index": 0}], "outputs": [{"name": "y", "tensor_index": 2}]}
    defs = [{"signature_key": key, "subgraph_index": place, **ends} for place, key in enumerate(keys)]
    two = model(["RELU"], relus(*"xmy"), relus(*"xmy", width=8000), signature_defs=defs)
    fit = outlive.fit(two, ram=MORE, accelerator="builtin")
    [note] = [note for note in fit.notes if "'prefill'" in note]
    assert "not counted" in note
    assert "'decode'" not in note
    assert any("'prefill'" in words for words in outlive.plan(two).unknown)
    one = model(["RELU"], relus(*"xmy"), signature_defs=defs[:1])
    assert not any("signature" in words for words in outlive.plan(one).unknown)


def test_an_open_input_is_said_to_be_measured_at_one_size() -> None:
    content = model(["RELU"], relus(*"xmy", shape_signature=[-1, 4]))
    samples = np.ones((3, 50, 4), np.float32)
    fit = outlive.fit(content, ram=MORE, samples=samples, accelerator="builtin")
    assert any("--input x=50x4" in note and "for 1x4," in note for note in fit.notes)
    fixed = outlive.fit(content, ram=MORE, samples=samples, inputs={"x": "50x4"}, accelerator="builtin")
    assert not any("is open" in note for note in fixed.notes)


def test_other_kernels_with_other_results_are_tagged_so() -> None:
    builtin = Outcome(candidate=Candidate(accelerator="builtin"), verdict="fits")
    assert replace(builtin, loss=0.67, loss_share=0.67).tag is Tag.CHANGES_RESULTS
    assert replace(builtin, loss=1e-6, loss_share=1e-6).tag is Tag.SAME_RESULTS
    assert builtin.tag is Tag.SAME_RESULTS
    recipe = Candidate(recipe="fp16")
    assert Outcome(candidate=recipe, verdict="fits", loss=0.0, loss_share=0.0).tag is Tag.CHANGES_MODEL


def test_what_nobody_gets_below_is_of_all_that_was_tried() -> None:
    def weighed(rank: int, measured: int, live_bytes: int) -> EvaluatedCandidate:
        ops = tuple(replace(load, live_bytes=live_bytes) for load in sketch().ops)
        plan = sketch(ops=ops, exact=False, lower_bound_bytes=live_bytes)
        row = Outcome(candidate=Candidate(), verdict="does not fit", rank=rank, measured_peak_bytes=measured)
        return EvaluatedCandidate(outcome=row, plan=plan)

    found = find_shortage([weighed(0, 9 * MIB, 8 * MIB), weighed(1, 12 * MIB, 3 * MIB)], BUDGET)
    assert found is not None
    assert found.smallest.rank == 0
    assert found.lower_bound_bytes == 3 * MIB
    fit = Fit(chosen=None, candidates=(found.smallest,), budget=BUDGET, shortage=found, stopped="seconds")
    assert "Smallest tried" in told(fit)
    # Those that were not tried may fit: a smaller input, say.
    assert "No candidate tried so far can need less than 3,145,728 bytes" in told(fit)
    assert "no candidate tried so far fits" in told(fit)
    whole = replace(fit, stopped="")
    assert "No candidate can need less than 3,145,728 bytes" in told(whole)


def test_scores_that_are_no_shares_are_told_in_their_own_units() -> None:
    assert loss_by_score(0.9, 0.8).loss_share == pytest.approx(0.1)
    found = loss_by_score(50.0, 40.0)
    assert (found.loss, found.loss_share) == (10.0, pytest.approx(0.2))
    assert loss_by_score(-4.0, -5.0).loss_share == pytest.approx(0.25)
    fit = Fit(chosen=None, candidates=(), budget=BUDGET, original_score=50.0)
    assert loss_words(fit, 10.0) == "10"
    assert loss_words(replace(fit, original_score=0.9), 0.1) == "10.00%"


@pytest.mark.parametrize(("most", "verdict"), [(0.25, "fits"), (0.15, "loses too much")])
def test_the_most_it_may_lose_is_a_part_of_such_a_score(most: float, verdict: str) -> None:
    class Fixed:
        def loss(self, built: Any, candidate: Candidate) -> Loss:
            return loss_by_score(50.0, 40.0)

    evaluation = Evaluation(None, None, Fixed(), BUDGET, None, most)  # type: ignore[arg-type]
    row = evaluation._compared(Outcome(candidate=Candidate(), verdict="fits"), None)  # type: ignore[arg-type]
    assert row.verdict == verdict
    assert verdict == "fits" or "20.000% of the original's score" in row.reason


def test_a_metric_on_random_inputs_is_only_indicative() -> None:
    def on_outputs(outputs: Any, samples: Any) -> float:
        return 7.0

    def on_its_own(predict: Any) -> float:
        return 7.0

    for metric, indicative in ((on_outputs, True), (on_its_own, False)):
        for _ in range(2):  # the second time from memory
            fit = outlive.fit(SPOTTER, ram=MORE, metric=metric, accelerator="builtin")
            assert fit.is_indicative == indicative
            assert any("indicative only" in note for note in fit.notes) == indicative


def test_runs_end_when_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []

    def slow(*_: Any, seconds: float, **__: Any) -> Flight:
        given.append(seconds)
        time.sleep(1.1)
        return Flight(died=True, stage="invoke", ended_by="deadline")

    monkeypatch.setattr(evaluation, "record_run", slow)
    fit = outlive.fit(SPOTTER, ram=MORE, seconds=1, cache=False)
    assert max(given, default=0) <= 1
    assert fit.stopped == "seconds"
    assert {row.verdict for row in fit.candidates} == {"not tried"}
    given.clear()
    LimitedRuns(ResultCache(None), JUDGE).measure(
        Built(path="m", model=outlive.read(SPOTTER)), Candidate(), 10**9
    )
    assert set(given) == {120.0}


def test_samples_in_many_portions_end_when_the_time_is_up() -> None:
    class Engine:
        def allocate_tensors(self) -> None: ...
        def get_input_details(self) -> list[dict[str, Any]]:
            none = {"scales": [], "zero_points": []}
            row = {"name": "x", "index": 0, "shape": np.array([1, 4]), "dtype": np.float32}
            return [{**row, "quantization_parameters": none}]

        def get_output_details(self) -> list[dict[str, Any]]:
            return []

        def set_tensor(self, index: int, value: Any) -> None: ...
        def invoke(self) -> None: ...

    runs: list[int] = []

    def before() -> None:
        runs.append(1)
        if len(runs) == 3:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        Predictor(Engine(), ["x"], before)(np.ones((1000, 4), np.float32))
    assert len(runs) == 3


def test_names_that_are_no_text_are_refused_in_words() -> None:
    content = model(["RELU"], relus("QQQQ", "m", "y")).replace(b"QQQQ", b"\xff\xfe*/")
    for accelerator in ("builtin", "cpu"):
        fit = outlive.fit(content, ram=MORE, accelerator=accelerator)
        assert fit.chosen is None
        assert "utf-8" in fit.refusal
    with pytest.raises(outlive.InputError, match="utf-8"):
        outlive.compare(content, content)


def test_an_original_that_does_not_run_on_the_inputs_is_said_so() -> None:
    # It runs on inputs that ask for one element, and not on those that ask for three.
    tensors = [tensor("k", "INT32", [1]), tensor("x", "FLOAT32", [1, 1]), tensor("y", "FLOAT32", [1])]
    reshaping = model(["RESHAPE"], graph([*tensors], [0, 1], [2], op(0, [1, 0], [2], "Reshape")))
    samples = [[np.array([3], np.int32), np.ones((1, 1), np.float32)]]
    fit = outlive.fit(reshaping, ram=MORE, samples=samples, accelerator="builtin")
    assert fit.chosen is not None
    words = told(fit)
    assert "error[" not in words
    assert "the original does not run on the samples: The runtime refused" in words
    assert "on random inputs" not in words


def test_the_source_is_the_users_also_with_another_batch() -> None:
    fit = outlive.fit(SPOTTER, ram=MORE, batch=2, accelerator="builtin")
    assert fit.source == str(SPOTTER)


def test_a_refusal_of_micro_is_explained_by_its_plan() -> None:
    custom = model(["ATAN2"], graph([tensor(name, "FLOAT32", [1, 4]) for name in "xyz"], [0, 1], [2],
                                    op(0, [0, 1], [2])))  # fmt: skip
    fit = outlive.fit(custom, ram=MORE, accelerator="tflm")
    assert fit.refusal
    words = told(fit)
    assert re.search(r"outlive plan .*--accelerator tflm$", words, re.MULTILINE)
    assert "diagnose" not in words
