"""Timelines for Perfetto: events as the format wants them, stages where they were, names that do nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import outlive
from outlive import demo_models
from outlive.meter import Point
from outlive.process.flight import Flight
from outlive.rendering.media.json import dump
from outlive.rendering.media.trace import place_stages, plan_trace, run_trace
from outlive.verbs.judging import JUDGE
from tests.arena.sketches import sketch
from tests.flights.replay import load, rebuild, recordings
from tests.rendering.stage import HOSTILE, unsafe
from tests.rendering.trace_shape import complaints


@pytest.fixture(scope="module")
def ran() -> Flight:
    return outlive.run(demo_models.path("healthy"), repeat=3)


@pytest.fixture(scope="module")
def died() -> Flight:
    return outlive.run(demo_models.path("deadly"))


def events(document: Any, phase: str) -> list[Any]:
    return [event for event in document["traceEvents"] if event["ph"] == phase]


def test_a_run_is_a_sound_trace(ran: Flight) -> None:
    document = json.loads(dump(run_trace(ran, "healthy.tflite", ())))
    assert complaints(document) == []
    names = [event["name"] for event in events(document, "X")]
    assert names == ["load", "allocate", "set", "invoke", "invoke 2", "invoke 3", "get", "free"]
    assert len(events(document, "C")) == 2 * len(ran.timeline)
    assert any(event["name"].startswith("peak: ") for event in events(document, "i"))


def test_a_stage_lasts_as_long_as_it_did(ran: Flight) -> None:
    took = dict(ran.stages)
    for name, start, end in place_stages(ran):
        assert end - start == pytest.approx(took[name], abs=2e-3), name


def test_a_death_is_on_the_line(died: Flight) -> None:
    finding = JUDGE.find("flight", died, "deadly.tflite")[0]
    document = json.loads(dump(run_trace(died, "deadly.tflite", (finding,))))
    assert complaints(document) == []
    last = events(document, "X")[-1]
    assert last["name"] == "invoke"
    flag = events(document, "i")[-1]
    assert flag["name"].startswith("D504: ")
    assert flag["ts"] >= last["ts"] + last["dur"]
    assert document["otherData"]["died"] is True


def test_a_death_while_loading_has_a_slice() -> None:
    point = Point(seconds=0.25, bytes=10, rss_bytes=20)
    flight = Flight(died=True, stage="load", signal="SIGSEGV", timeline=(point,))
    assert place_stages(flight) == (("load", 0.0, 0.25),)
    assert complaints(json.loads(dump(run_trace(flight, None, ())))) == []


def test_a_load_that_began_before_the_first_look_moves_all(ran: Flight) -> None:
    late = replace(ran, stages=(("load", 5.0), *ran.stages[1:]))
    document = json.loads(dump(run_trace(late, "m", ())))
    assert complaints(document) == []
    assert events(document, "X")[0]["dur"] >= 4_900_000


def test_nothing_seen_is_a_trace_too() -> None:
    assert complaints(run_trace(Flight(died=False, stage="done"), None, ())) == []


@pytest.mark.parametrize("accelerator", ["builtin", "cpu", "tflm"])
def test_a_plan_is_a_sound_trace(accelerator: str) -> None:
    plan = outlive.plan(demo_models.path("healthy"), accelerator)
    document = json.loads(dump(plan_trace(plan)))
    assert complaints(document) == []
    slices = events(document, "X")
    assert [event["args"]["op"] for event in slices] == [load.index for load in plan.ops]
    assert max(event["args"]["bytes"] for event in events(document, "C")) == max(
        load.live_bytes for load in plan.ops
    )
    inside = len(plan.placements) + len(plan.workspace_placements)
    assert len(events(document, "b")) == len(events(document, "e")) == inside


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_names_of_a_file_do_nothing(name: str) -> None:
    plan = sketch()
    bad = replace(
        plan,
        path=name,
        placements=tuple(replace(place, name=name) for place in plan.placements),
        ops=tuple(replace(load, name=name, type=name) for load in plan.ops),
    )
    document = json.loads(dump(plan_trace(bad)))
    assert complaints(document) == []
    shown = [event["name"] for event in document["traceEvents"]]
    shown += [event["args"]["name"] for event in document["traceEvents"] if "name" in event.get("args", {})]
    assert unsafe("\n".join([*shown, document["otherData"]["model"]])) == set()
    assert max(map(len, shown)) < 200


@pytest.mark.parametrize("recording", recordings(), ids=lambda path: path.stem)
def test_every_recorded_death_is_a_sound_trace(recording: Path) -> None:
    flight = rebuild(load(recording)[1])
    document = json.loads(dump(run_trace(flight, "m.tflite", ())))
    assert complaints(document) == []
    assert events(document, "X")[-1]["name"].startswith(flight.stage)


def test_the_checker_sees_what_is_wrong(ran: Flight) -> None:
    for spoil in (
        lambda event: event.pop("pid"),
        lambda event: event.update(ts=-1),
        lambda event: event.update(ph="Q"),
        lambda event: event.update(name=""),
    ):
        document = json.loads(dump(run_trace(ran, "m", ())))
        spoil(document["traceEvents"][-1])
        assert complaints(document)
    document = json.loads(dump(run_trace(ran, "m", ())))
    first, second = events(document, "X")[:2]
    second["ts"] = first["ts"]
    assert complaints(document)
