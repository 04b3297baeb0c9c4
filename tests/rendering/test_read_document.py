"""Documents that are read back become the results they were made of; anything else is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

import outlive
from outlive import demo_models
from outlive.arena.budget import Way, device_budget, weigh
from outlive.arena.devices import find_device
from outlive.arena.plan import Plan, PlannedSetting
from outlive.fleet import Row
from outlive.process.flight import Flight
from outlive.rendering.media.json import document_of, dump, read_document
from tests.arena.sketches import micro, refused, sketch
from tests.fleet.made import death, row
from tests.flights.replay import load, rebuild, recordings

ACCELERATORS = ("cpu", "builtin", "reference", "tflm")


@pytest.mark.parametrize("accelerator", ACCELERATORS)
@pytest.mark.parametrize("name", demo_models.NAMES)
def test_a_plan_comes_back(name: str, accelerator: str) -> None:
    plan = outlive.plan(demo_models.path(name), accelerator=accelerator)
    back = read_document(dump(document_of(plan)))
    assert isinstance(back, Plan)
    assert back == plan
    assert document_of(back) == document_of(plan)


def test_a_plan_comes_back_with_its_verdict() -> None:
    way = Way(what="run at 32x32", options=("--input", "a=1"), needed_bytes=5, changes_results=True)
    verdict = weigh(micro(), device_budget(find_device("rp2040")), (way,))
    plan = replace(micro(), verdict=verdict)
    back = read_document(dump(document_of(plan)))
    assert document_of(back) == document_of(plan)
    assert (back.verdict.plan, back.verdict.budget.device) == (back, find_device("rp2040"))


@pytest.mark.parametrize("plan", [sketch(), micro(), refused()], ids=["builtin", "tflm", "refused"])
def test_a_sketch_comes_back(plan: Plan) -> None:
    assert read_document(dump(document_of(plan))) == plan


def test_rows_of_a_sweep_are_told_and_need_not_come_back() -> None:
    plan = replace(sketch(), sweep=(PlannedSetting(setting={"batch": "2"}, plan=None, problem="no"),))
    assert "sweep" in document_of(plan)


def test_a_run_comes_back() -> None:
    flight = outlive.run(demo_models.path("healthy"))
    document = document_of(flight)
    back = read_document(dump(document))
    assert isinstance(back, Flight)
    assert replace(back, resized=flight.resized) == flight  # that nobody resized is not told
    assert document_of(back, findings=flight.findings) == document


@pytest.mark.parametrize("path", recordings(), ids=lambda path: path.stem)
def test_a_recorded_death_comes_back(path: Any) -> None:
    flight = rebuild(load(path)[1])
    assert read_document(dump(document_of(flight, findings=()))) == flight


def test_a_row_of_a_scan_comes_back() -> None:
    made = row(outcome="died", death=death("out-of-memory"))
    back = read_document(made.line())
    assert isinstance(back, Row)
    assert back == made


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "7", '{"schema":"outlive/1"}', '{"schema":"outlive/1","kind":"doctor"}',
     '{"schema":"outlive/1","kind":"plan"}', '{"schema":"outlive/2","kind":"plan"}', "[" * 100_000,
     '{"schema":"outlive/1","kind":["plan"]}'],
    ids=range(11),
)  # fmt: skip
def test_what_is_no_document_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"document|Expecting|kind"):
        read_document(text)


def test_a_document_is_bounded() -> None:
    text = dump(document_of(sketch()))
    with pytest.raises(ValueError, match="larger than 100"):
        read_document(text, most_bytes=100)


@pytest.mark.parametrize("name", ["peak_bytes", "ops", "model", "verdict", "exact", "inputs", "findings"])
@pytest.mark.parametrize("wrong", [True, -1.5, "text", {"a": 1}, [[]], 10**400])
def test_fields_of_another_type_are_refused(name: str, wrong: Any) -> None:
    document = json.loads(dump(document_of(sketch()))) | {name: wrong}
    if (name, wrong) == ("exact", True):
        return
    with pytest.raises(ValueError, match=r"document of kind plan|Exceeds"):
        read_document(json.dumps(document))
