"""Scripts and functions that run out of memory for real: one verdict, with all that is known."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import outlive
from outlive.guarding.script import run_script
from outlive.meter import make_cgroup
from outlive.process.limits import Limits
from outlive.rules.flight_end import lacked_memory
from outlive.verbs.judging import JUDGE
from tests.deaths.restrictions import linux_only

pytestmark = linux_only

# Python's own MemoryError, whatever keeps the limit of a guarded call: the script sets one of its own.
KEEPS = """import resource
held = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (held + 120_000_000, resource.getrlimit(resource.RLIMIT_AS)[1]))
kept = []
def fill():
    while True:
        kept.append(bytearray(b"x" * 8_000_000))
fill()
"""
# It takes most of what there is, waits until it was asked where it stands, and takes the rest.
ASKED = """
import os, time
def was_asked():
    for number in os.listdir("/proc/self/fd"):
        try:
            if "outlive-faults" in os.readlink("/proc/self/fd/" + number):
                return os.stat("/proc/self/fd/" + number).st_size
        except OSError:
            pass
def wait():
    while not was_asked():
        time.sleep(0.01)
"""
HOARDS = """held = []
while len(held) < 50:
    held.append(bytearray(b"x" * 4_000_000))
wait()
while True:
    held.append(bytearray(b"x" * 4_000_000))
"""


def guard(*words: object, cgroup: Any = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "outlive", "guard", *map(str, words)]
    inside = None if cgroup is None else lambda: cgroup.add(os.getpid())
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, preexec_fn=inside
    )


def facts(finding: Any) -> str:
    return "\n".join(item["fact"] for item in finding["evidence"])


def test_a_script_that_keeps_too_much_is_told_what_it_keeps(tmp_path: Path) -> None:
    path, output = tmp_path / "keeps.py", tmp_path / "flight.json"
    path.write_text(KEEPS)
    done = guard("--memory", "150MB", "--format", "json", "--output", output, path)
    assert done.returncode == 1, done.stderr
    assert "MemoryError" in done.stderr
    flight = json.loads(output.read_text())
    assert (flight["died"], flight["error"]["type"]) == (False, "MemoryError")
    (finding,) = flight["findings"]
    assert (finding["code"], finding["cause"]) == ("D502", "out-of-memory")
    assert finding["headline"] == "Memory limit exceeded: the limit is 150 MB"
    assert f"{path}:7 in fill" in finding["where"]
    assert "by 7.63 MiB for each item of `kept`" in facts(finding)
    kept = flight["variables"][0]
    assert 8_000_000 * kept["items"] <= kept["bytes"] < 8_100_000 * kept["items"]


def test_another_exception_is_recorded_and_not_judged(tmp_path: Path, capfd: Any) -> None:
    path = tmp_path / "raises.py"
    path.write_text("raise KeyError('x')\n")
    end = run_script(str(path), [], judge=JUDGE, as_module=False, limits=Limits())
    assert (end.exit_code, end.flight.error_type, end.flight.error_text) == (1, "KeyError", "'x'")
    assert not lacked_memory(end.flight)
    assert "KeyError" in capfd.readouterr().err


def test_a_kill_by_the_container_names_the_container(tmp_path: Path) -> None:
    cgroup = make_cgroup(300_000_000)
    if cgroup is None:
        pytest.skip("needs a memory cgroup of its own, which root (or whoever it was handed to) can make")
    path, output = tmp_path / "hoards.py", tmp_path / "flight.json"
    path.write_text(ASKED + HOARDS)
    with cgroup:
        done = guard("--memory", "2GB", "--format", "json", "--output", output, path, cgroup=cgroup)
    assert done.returncode == 3, done.stderr
    flight = json.loads(output.read_text())
    (finding,) = flight["findings"]
    assert (finding["code"], flight["signal"]) == ("D501", "SIGKILL")
    assert "available: 286 MiB, all that this container has" in facts(finding)
    assert "its own limit (memory=) is 2 GB" in facts(finding)
    assert "used: at least" in facts(finding)
    assert finding["where"].startswith(f"{path}:")
    assert "by 3.81 MiB for each item of `held`, which had at least" in facts(finding)


def test_where_a_call_stood_is_not_told_of_the_next_one() -> None:
    def hold() -> int:
        space: dict[str, Any] = {}
        exec(ASKED, space)
        held = bytearray(b"x") * 80_000_000
        space["wait"]()
        return len(held)

    guarded = outlive.guard(hold, memory="120MB")
    assert guarded() == 80_000_000
    with pytest.raises(outlive.ModelDied) as caught:
        outlive.guard(lambda: os.kill(os.getpid(), 9))()
    assert caught.value.flight.runtime["calls"] > 1
    assert caught.value.flight.fault_trace == ""


def test_a_call_of_the_system_in_native_code_is_not_cut_short_by_the_question() -> None:
    def read() -> tuple[int, int]:
        space: dict[str, Any] = {}
        exec(ASKED, space)
        libc, (end, start) = ctypes.CDLL(None), os.pipe()

        def grow() -> None:
            held = [bytearray(b"x") * 60_000_000]
            space["wait"]()
            for _ in range(6):  # it nears its limit more and more while the main thread waits
                held.append(bytearray(b"x") * 5_000_000)
                time.sleep(0.2)
            os.write(start, b"hello")

        thread = threading.Thread(target=grow)
        thread.start()
        found = libc.read(end, ctypes.create_string_buffer(16), 16)
        thread.join()
        return found, len(threading.enumerate())

    assert outlive.guard(read, memory="110MB")() == (5, 1)


class ResourceExhaustedError(Exception):
    """As TensorFlow names it."""


def exhaust() -> None:
    raise ResourceExhaustedError("OOM when allocating tensor with shape[60000,60000] and type float on CPU:0")


def test_what_tensorflow_raises_gets_the_same_verdict() -> None:
    with pytest.raises(ResourceExhaustedError) as caught:
        outlive.guard(exhaust, memory="1GB")()
    error: Any = caught.value
    assert error.finding.code == "D502"
    assert (
        error.finding.headline
        == "Memory limit exceeded: the function requested 14.4 GB at once, the limit is 1 GB"
    )
    assert "of 60,000 rows" in error.finding.remedies[-1].action
    assert outlive.diagnose(error).verdict.code == "D502"


def test_an_attribute_is_named_with_its_object() -> None:
    class Cache:
        def __init__(self) -> None:
            self.rows: dict[int, bytearray] = {}

        def fill(self) -> None:
            for number in range(4):
                self.rows[number] = bytearray(b"x" * 4_000_000)
            raise MemoryError

    with pytest.raises(MemoryError) as caught:
        outlive.guard(lambda: Cache().fill(), memory="30MB")()
    flight: Any = caught.value.flight  # type: ignore[attr-defined]
    assert (flight.variables[0]["name"], flight.variables[0]["items"]) == ("self.rows", 4)
    finding: Any = caught.value.finding  # type: ignore[attr-defined]
    assert any("keep fewer items in `self.rows`" in remedy.action for remedy in finding.remedies)
