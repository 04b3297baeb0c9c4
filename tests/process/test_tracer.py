"""What the tracer sees of real deaths, and that it leaves everything else alone."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or os.uname().machine not in ("x86_64", "aarch64"),
    reason="native frames are read on 64-bit Linux (Intel and Arm) only",
)

HERE = Path(__file__).parent
PACKAGE = HERE.parent.parent / "src" / "outlive"
CHILD = PACKAGE / "process" / "child"
DEADLY = PACKAGE / "demo_models" / "deadly.tflite"
needs_litert = pytest.mark.skipif(
    importlib.util.find_spec("ai_edge_litert") is None, reason="needs LiteRT: pip install ai-edge-litert"
)


def run_cases(*cases: str) -> dict[str, Any]:
    """What a small nursery in a process of its own tells about its children."""
    command = [sys.executable, str(HERE / "small_nursery.py"), str(CHILD), str(DEADLY), *cases]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert not told["children_left"]
    assert told["kept"] == 0, "the tracer remembers processes that are gone"
    return told


def run_case(case: str) -> dict[str, Any]:
    result: dict[str, Any] = run_cases(case)["results"][0]
    if result["refused"] and case != "hidden":
        pytest.skip(f"this machine does not let a process trace its child: {result['refused']}")
    return result


def symbols_of(evidence: dict[str, Any]) -> list[str]:
    return [frame["symbol"] for frame in evidence["frames"]]


@needs_litert
@pytest.mark.parametrize("case", ["deadly", "deadly_stripped"])
def test_the_op_that_killed_is_named(case: str) -> None:
    result = run_case(case)
    evidence = result["evidence"]
    assert result["signal"] == signal.SIGSEGV
    assert evidence["signal"] == "SIGSEGV"
    assert evidence["op_type"] == "LOCAL_RESPONSE_NORMALIZATION"
    assert evidence["op_phase"] == "Eval"
    assert evidence["op_index"] == 3
    assert not evidence["op_nested"]
    assert evidence["memory"]["data_bytes"] > 0


@needs_litert
def test_the_native_frames_lead_from_the_kernel_to_python() -> None:
    frames = run_case("deadly")["evidence"]["frames"]
    names = [frame["symbol"] for frame in frames]
    kernel = names.index("tflite::ops::builtin::local_response_norm::Eval")
    assert names[kernel + 1 : kernel + 3] == ["tflite::Subgraph::InvokeImpl", "tflite::Subgraph::Invoke"]
    assert frames[kernel]["library"] == "libpywrap_litert_common.so"
    assert frames[kernel]["address"] > 0
    assert all(frame["exact"] for frame in frames)
    assert any("PyEval" in name for name in names)


@needs_litert
def test_a_second_death_reads_no_library_again() -> None:
    first, *later = [
        result["libraries_read"] for result in run_cases("deadly", "deadly", "deadly")["results"]
    ]
    assert first > 0
    assert later == [0, 0]


def test_an_abort_is_seen_where_it_was_called() -> None:
    result = run_case("abort")
    assert result["signal"] == signal.SIGABRT
    assert result["evidence"]["signal"] == "SIGABRT"
    assert result["evidence"]["fault_address"] is None
    # The first of two stops: faulthandler raises the signal again from its handler.
    assert "faulthandler_fatal_error" not in symbols_of(result["evidence"])
    assert result["evidence"]["op_type"] is None


def test_a_division_by_zero_is_seen() -> None:
    result = run_case("divide")
    assert result["signal"] == signal.SIGFPE
    assert result["evidence"]["signal"] == "SIGFPE"


def test_a_fault_in_another_thread_is_seen() -> None:
    result = run_case("thread")
    assert result["signal"] == signal.SIGSEGV
    assert result["evidence"]["signal"] == "SIGSEGV"
    assert result["evidence"]["fault_address"] == 0
    assert result["evidence"]["thread"] != result["process"]
    assert result["other_ends"] >= 1


@pytest.mark.parametrize("case", ["nowhere", "nowhere_unwatched"])
def test_a_jump_into_nowhere_still_has_callers(case: str) -> None:
    evidence = run_case(case)["evidence"]
    assert evidence["fault_address"] == 8
    assert evidence["frames"][0]["symbol"] == ""
    assert any("PyEval" in name for name in symbols_of(evidence))
    assert not evidence["frames"][-1]["exact"]


def test_a_stopped_worker_stops_and_goes_on() -> None:
    result = run_case("stop")
    assert result["stood_still"]
    assert result["exit_code"] == 7
    assert "signal" not in result["evidence"]


def test_handled_and_ignored_signals_arrive() -> None:
    assert run_case("handle")["exit_code"] == 43


def test_threads_come_and_go() -> None:
    result = run_case("many_threads")
    assert result["exit_code"] == 9
    assert result["other_ends"] == 40


def test_a_grandchild_is_not_our_business() -> None:
    result = run_case("grandchild")
    assert result["exit_code"] == signal.SIGABRT
    assert "signal" not in result["evidence"]


def test_a_normal_end_has_a_last_reading_of_memory() -> None:
    result = run_case("leave")
    assert result["exit_code"] == 3
    assert result["evidence"].keys() == {"memory"}
    assert result["evidence"]["memory"]["peak_rss_bytes"] >= result["evidence"]["memory"]["rss_bytes"] > 0


def test_a_kill_is_seen_as_one() -> None:
    result = run_case("killed")
    assert result["signal"] == signal.SIGKILL
    # Whether a killed process may still be looked at depends on the kernel; no signal is made up for it.
    assert "signal" not in result["evidence"]


def test_fifty_deaths_leave_nothing_behind() -> None:
    results = run_cases(*["abort", "thread"] * 25)["results"]
    assert [result["signal"] for result in results] == [signal.SIGABRT, signal.SIGSEGV] * 25
    seen = {result["evidence"].get("signal") for result in results if not result["refused"]}
    assert seen <= {"SIGABRT", "SIGSEGV"}


def test_where_tracing_is_refused_the_death_is_still_seen() -> None:
    result = run_case("hidden")
    assert result["signal"] == signal.SIGABRT
    assert "not permitted" in result["refused"]
    assert result["evidence"] == {}
