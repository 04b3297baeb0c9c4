"""`outlive.run`: a flight comes back whether the model lives or not."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

import outlive
from outlive import demo_models
from outlive.interpreter import recorded_run as running
from outlive.meter import Point
from tests.interpreter.dropin_models import graph, model, op
from tests.model.small import tensor

HEALTHY, DEADLY = demo_models.path("healthy"), demo_models.path("deadly")


def test_a_flight_of_a_healthy_model() -> None:
    flight = outlive.run(HEALTHY, "zeros", repeat=2)
    assert not flight.died
    assert [stage for stage, _ in flight.stages] == [
        "load",
        "allocate",
        "set",
        "invoke",
        "invoke 2",
        "get",
        "free",
    ]
    assert flight.outputs[0].name == "probabilities"
    assert flight.outputs[0].shape == (1, 10)
    assert flight.values["probabilities"].sum() == pytest.approx(1.0, abs=1e-5)
    assert flight.peak_bytes is not None
    assert flight.peak_bytes > 0
    marks = [point.mark for point in flight.timeline if point.mark]
    assert marks[:3] == ["load", "allocate", "set"]
    json.dumps(flight.to_json())


def test_inputs_in_every_way_give_the_same() -> None:
    value = np.full((1, 64, 64, 3), 0.5, np.float32)
    ways = [{"image": value}, [value], value]
    results = [outlive.run(HEALTHY, way).values["probabilities"] for way in ways]
    assert all(np.array_equal(results[0], result) for result in results)
    assert not np.array_equal(results[0], outlive.run(HEALTHY, "zeros").values["probabilities"])


def test_a_model_in_every_way_gives_the_same() -> None:
    data = HEALTHY.read_bytes()
    ways = [HEALTHY, str(HEALTHY), data, bytearray(data), outlive.read(HEALTHY)]
    results = [outlive.run(way, "zeros").outputs[0].sha256 for way in ways]
    assert len(set(results)) == 1


def test_a_flight_of_a_deadly_model() -> None:
    flight = outlive.run(DEADLY)
    assert (flight.died, flight.signal, flight.stage) == (True, "SIGSEGV", "invoke")
    assert flight.op is not None
    assert (flight.op.type, flight.op.index) == ("LOCAL_RESPONSE_NORMALIZATION", 3)
    assert "local_response_norm" in " ".join(flight.frames)
    assert "Segmentation fault" in flight.fault_trace


def test_reference_kernels_survive_the_deadly_model() -> None:
    assert not outlive.run(DEADLY, accelerator="reference").died


def test_memory_and_time_have_limits() -> None:
    starved = outlive.run(demo_models.path("too_big"), limits=outlive.Limits(memory="50MB"), force=True)
    assert starved.ended_by == "memory"
    late = outlive.run(demo_models.path("too_big"), limits=outlive.Limits(seconds=0.05))
    assert (late.died, late.ended_by) == (True, "deadline")


@pytest.mark.parametrize(
    ("inputs", "said"),
    [({"picture": "zeros"}, "no input is named"), ([1, 2], "has 1 inputs"), ("threes", "is no input")],
)
def test_wrong_inputs_are_told(inputs: object, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        outlive.run(HEALTHY, inputs)


def test_wrong_limits_are_told() -> None:
    with pytest.raises(ValueError, match="is not a size"):
        outlive.Limits(memory="lots")
    with pytest.raises(ValueError, match="leaves no memory"):
        outlive.Limits(memory=0)
    with pytest.raises(ValueError, match="passed already"):
        outlive.Limits(seconds=0)


def test_the_parent_never_loads_the_runtime() -> None:
    code = (
        "import sys, outlive\n"
        f"flight = outlive.run({str(DEADLY)!r})\n"
        "assert flight.died\n"
        "rooms = [name.partition('.')[0].lower() for name in sys.modules]\n"
        "bad = [room for room in rooms if 'litert' in room or 'tensorflow' in room]\n"
        "maps = [line for line in open('/proc/self/maps') if 'LiteRt' in line or 'tensorflow' in line]\n"
        "assert not bad and not maps, (bad, maps)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_output_that_cannot_be_read_is_in_the_record() -> None:
    tensors = [tensor(name, "FLOAT32", [1, 4]) for name in ("x", "y", "nobody writes it")]
    content = model(["FLOOR"], graph(tensors, [0], [1, 2], op(0, [0], [1])))
    flight = outlive.run(content)
    assert (flight.died, flight.stage, flight.error_type) == (False, "get", "ValueError")
    assert "Tensor data is null" in flight.error_text


def test_the_peak_of_a_death_is_private_memory() -> None:
    """Resident memory grows by megabytes with the runtime's code, which is no memory of the model's."""
    flight = outlive.run(DEADLY)
    assert flight.peak_bytes is not None
    resident = flight.last_memory["rss_bytes"] - flight.timeline[0].rss_bytes
    assert flight.peak_bytes < 2_000_000 < resident
    assert flight.peak_bytes == max(
        flight.last_memory["private_bytes"] - flight.baseline_bytes,
        *(point.bytes for point in flight.timeline),
    )


def test_what_is_asked_after_the_run_is_not_the_models_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    watched: list[str] = []
    real = running.ask_delegation

    def asked(*arguments: Any) -> Any:
        watched.extend(thread.name for thread in threading.enumerate())
        return real(*arguments)

    monkeypatch.setattr(running, "ask_delegation", asked)
    assert not outlive.run(HEALTHY, "zeros").died
    assert watched
    assert "outlive-sampler" not in watched


def test_copies_of_outputs_are_not_in_the_peak() -> None:
    seen = [("load", 1), ("", 5), ("allocate", 3), ("invoke", 4), ("", 6), ("invoke 2", 4), ("", 9)]
    points = [
        Point(seconds=0.0, bytes=size, rss_bytes=0, mark=mark or None) for mark, size in (*seen, ("get", 8))
    ]
    assert running._most(points) == 6
    assert running._most(points[:7]) == 9  # it died while outputs were got, or before: all of it counts
    assert running._most([]) == 0
