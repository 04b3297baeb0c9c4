"""A comparison is equal only where all was compared, is finite, and is the same; wherever it is said."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from outlive.quant.drift import Drift, Metrics, OutputDrift, PassSummary, PerSample, TensorDrift
from outlive.rendering import page_of
from outlive.rendering.media.csv import drift_csv
from outlive.rendering.media.json import document_of, dump
from outlive.rendering.media.notebook import card_bundle
from outlive.rendering.media.overlay import drift_overlay
from outlive.rendering.pages.compare import drift_section, drift_verdict
from outlive.rendering.plots.compare import marks
from tests.rendering.stage import drawn

NAN, INF = math.nan, math.inf


def metrics(decibels: float, not_finite: int = 0) -> Metrics:
    count = 0 if math.isnan(decibels) else 8
    return Metrics(
        num_elements=count, stddev=0.0, mean_error=0.0, max_abs_error=0.5, mean_squared_error=0.0, rmse=0.0,
        sqnr_db=decibels, cosine=1.0, reference_min=0.0, reference_max=1.0, not_finite=not_finite,
        rmse_over_ideal_step=0.0,
    )  # fmt: skip


def output(found: Metrics | None, why: str = "") -> OutputDrift:
    return OutputDrift(
        name="out", index=1, reference_name="out", metrics=found, argmax_agreement=None, why=why
    )


def layer(name: str, op: int, found: Metrics | None, blame: float = 0.0) -> TensorDrift:
    born = None if found is None else metrics(INF)
    if born is not None and blame:
        born = replace(born, rmse_over_ideal_step=blame)
    return TensorDrift(
        name=name, index=op, op=op, op_type="ABS", reference_name=name, reference_index=op,
        dtype="float32", shape=(1,), scale=None, zero_point=None, metrics=found, born_here=born,
    )  # fmt: skip


def drift(*outputs: OutputDrift, tensors: tuple[TensorDrift, ...] = ()) -> Drift:
    turns = PassSummary(count=1, budget_bytes=1, largest_bytes=1)
    return Drift(tensors=tensors, outputs=outputs, samples=1, turns=turns)


CASES: list[tuple[str, tuple[OutputDrift, ...], str, str]] = [
    ("equal", (output(metrics(INF)),), "equal", "good"),
    ("good", (output(metrics(30.0)), output(metrics(INF))), "differ", "good"),
    ("poor", (output(metrics(3.0)),), "differ", "warn"),
    ("all are NaN", (output(metrics(NAN, 8)),), "not finite", "bad"),
    ("one of two is NaN", (output(metrics(INF)), output(metrics(NAN, 8))), "not finite", "bad"),
    ("some values are NaN", (output(metrics(INF, 1)),), "not finite", "bad"),
    ("of zeros nothing is left", (output(metrics(-INF)),), "differ", "bad"),
    ("nothing was compared", (output(None, "other shapes"),), "not compared", "bad"),
    ("one was not compared", (output(metrics(INF)), output(None, "other shapes")), "not compared", "bad"),
    ("only some samples", (output(metrics(INF), "other shapes"),), "not compared", "bad"),
    ("no outputs", (), "not compared", "bad"),
]


@pytest.mark.parametrize(("outputs", "name", "tone"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_it_is_said_the_same_everywhere(outputs: Any, name: str, tone: str) -> None:
    made = drift(*outputs)
    outcome, verdict = made.verdict, drift_verdict(made)
    assert (outcome.name, outcome.tone) == (name, tone)
    assert (verdict.tone, verdict.word) == (tone, outcome.words)
    assert ("equal" in verdict.word) == (name == "equal")
    assert json.loads(dump(document_of(made)))["outputs_are"] == name
    told = drawn(made)
    assert outcome.words in told
    assert "nan" not in told
    card = card_bundle(page_of(made))
    assert f"o-{tone}" in card["text/html"]
    assert outcome.words in card["text/plain"]


def test_what_is_not_finite_is_drawn_as_a_gap() -> None:
    rows = (layer("a", 0, metrics(40.0)), layer("b", 1, metrics(NAN, 8)), layer("c", 2, metrics(-INF)))
    made = drift(output(metrics(NAN, 8)), tensors=rows)
    (arrived,) = [block for block in drift_section(made).blocks if getattr(block, "id", "") == "arrived"]
    series = arrived.data["series"][0]  # type: ignore[union-attr]
    assert series["values"] == [40.0, None, -120.0]
    assert series["gaps"]
    assert "The values of 1 layer are not finite" in arrived.summary  # type: ignore[union-attr]
    assert not [mark for mark in marks(made) if "op 1 " in str(mark)]


def test_node_data_is_by_operator_not_by_name() -> None:
    rows = (layer("dup", 0, metrics(40.0), 1.5), layer("dup", 1, metrics(40.0), 0.5))
    results: Any = drift_overlay(drift(tensors=rows), "main")["main"]
    assert results["results"] == {"0": {"value": 1.5}, "1": {"value": 0.5}}


def test_the_worst_output_of_an_operator_counts() -> None:
    rows = (layer("a", 0, metrics(40.0), 0.5), layer("b", 0, metrics(40.0), 1.5))
    results: Any = drift_overlay(drift(tensors=rows), "main")["main"]
    assert results["results"] == {"0": {"value": 1.5}}


@pytest.mark.parametrize(
    "name", ["=1+1", "+1", "-1", "@x", "\uff1d1", "\uff0b1", "\uff0d1", "\uff20x", " =1"]
)
def test_no_name_in_the_csv_is_a_formula(name: str) -> None:
    per = PerSample(num_elements=1, stddev=0, mean_error=0, max_abs_error=0, mean_squared_error=0)
    row = replace(layer(name, 0, metrics(40.0)), per_sample=per, op_type=name)
    kind, *_, shown = drift_csv([row]).splitlines()[1].split(",")
    assert (kind, shown) == (f"'{name}", f"'{name}")
