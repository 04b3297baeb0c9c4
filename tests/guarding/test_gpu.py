"""Memory of NVIDIA's GPUs on the timeline of a guarded function: by a library that answers as NVML does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from outlive.environment.capabilities import check_nvidia
from outlive.environment.machine_report import State
from outlive.meter.gpu import LIBRARY_VARIABLE, GpuMeter, find_gpus
from tests.deaths.restrictions import linux_only
from tests.guarding.scenes import play

pytestmark = linux_only
SOURCE = Path(__file__).with_name("nvml.c")
GROW = "TF_FORCE_GPU_ALLOW_GROWTH"


def build(folder: Path, *options: str) -> str:
    library = folder / f"libnvml{''.join(options)}.so"
    command = ["cc", "-shared", "-fPIC", "-O1", *options, "-o", str(library), str(SOURCE)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("needs a C compiler, to build a library that answers as NVIDIA's does")
    return str(library)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build(tmp_path_factory.mktemp("nvml"))


@pytest.fixture
def state(tmp_path: Path, library: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that says what is in use, with the library that reads it."""
    monkeypatch.setenv(LIBRARY_VARIABLE, library)
    monkeypatch.setenv("FAKE_NVML", str(tmp_path / "state"))
    (tmp_path / "state").write_text("100\n")
    return tmp_path / "state"


def meter(leader: int | None = None) -> GpuMeter:
    gpus = find_gpus()
    assert gpus is not None
    return GpuMeter(gpus, os.getpgrp() if leader is None else leader)


def test_the_gpus_are_described(state: Path) -> None:
    gpus = find_gpus()
    assert gpus is not None
    assert [(gpu.name, gpu.total_bytes) for gpu in gpus.devices] == [
        ("GPU number 0", 8_000_000_000),
        ("GPU number 1", 8_000_000_000),
    ]
    assert gpus.driver == "550.54"
    assert gpus.used_bytes() == 100
    row = check_nvidia(gpus)
    assert (row.state, "GPU number 1" in row.found, "driver 550.54" in row.found) == (State.OK, True, True)


@pytest.mark.parametrize("options", [(), ("-DOLD",)], ids=["version 3", "version 1"])
def test_what_a_process_and_its_children_hold_is_counted_once(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.setenv(LIBRARY_VARIABLE, build(tmp_path, *options))
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        state.write_text(f"5000\n{os.getpid()} 3000\n{child.pid} 500\n1 1500\n")
        found = meter()
        assert (found.read(), found.counted) == (3500, "process")
        child.communicate(b"\n")


def test_processes_that_are_not_ours_are_not_counted(state: Path) -> None:
    found = meter(leader=2**22 + 1)
    state.write_text(f"5000\n{os.getpid()} 3000\n")
    assert (found.read(), found.counted) == (0, "process")


@pytest.mark.parametrize(
    "rows", ["", "4194999 4900\n", f"{os.getpid()} -1\n"], ids=["none named", "of the machine", "unsaid"]
)
def test_where_the_driver_does_not_name_us_the_rise_is_told_and_called_so(state: Path, rows: str) -> None:
    found = meter()
    state.write_text("5000\n" + rows)
    assert (found.read(), found.counted) == (4900, "machine")


def test_many_processes_are_all_counted(state: Path) -> None:
    others = "".join(f"{4194305 + n} 1\n" for n in range(300))
    state.write_text(f"5000\n{others}{os.getpid()} 3000\n")
    gpus = find_gpus()
    assert gpus is not None
    assert len(gpus.used_by_process()) == 301


@pytest.mark.parametrize("name", ["nowhere.so", "libc.so.6"])
def test_what_is_no_nvml_is_no_gpu(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(LIBRARY_VARIABLE, name)
    assert find_gpus() is None
    assert check_nvidia(find_gpus()).state is State.MISSING


def test_a_library_without_its_driver_is_no_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIBRARY_VARIABLE, build(tmp_path))
    monkeypatch.delenv("FAKE_NVML", raising=False)
    assert find_gpus() is None


PROGRAM = """
    import json

    def work(state):
        with open(state, "w") as file:
            file.write(f"3000000000\\n{os.getpid()} 2000000000\\n")
        open(state + ".written", "w").close()
        while not os.path.exists(state + ".seen"):
            time.sleep(0.01)
        os.write(2, os.environ.get("TF_FORCE_GPU_ALLOW_GROWTH", "unset").encode() + b"\\n")
        os.abort()

    from outlive.guarding.guard_process import GuardProcess
    state = sys.argv[1] if len(sys.argv) > 1 else os.environ["FAKE_NVML"]
    sample = GuardProcess._sample

    def sample_and_say(process):
        written = os.path.exists(state + ".written")
        sample(process)
        if written:
            open(state + ".seen", "w").close()

    GuardProcess._sample = sample_and_say
    try:
        outlive.guard(work)(state)
    except outlive.ModelDied as error:
        flight = error.flight.to_json()
        points = [point.get("gpu_bytes") for point in flight["timeline"]]
        print(json.dumps({"points": points, "runtime": flight["runtime"], "said": flight["stderr_tail"],
                          "text": " ".join(item.fact for item in error.finding.evidence)}))
    """


def test_a_guarded_function_has_gpu_memory_on_its_timeline(state: Path) -> None:
    told = json.loads(play(PROGRAM).stdout)
    assert told["points"][0] is None  # nobody looks before there is something to see
    assert max(point for point in told["points"] if point is not None) == 2_000_000_000
    assert told["runtime"]["gpu"] == {
        "names": ["GPU number 0", "GPU number 1"],
        "total_bytes": 16_000_000_000,
        "driver": "550.54",
        "counted": "process",
    }
    assert "used at least 1.86 GiB of 14.9 GiB on the GPU" in " ".join(told["text"].split())
    assert told["said"] == "true\n"


def test_the_user_decides_how_tensorflow_takes_memory(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(GROW, "false")
    assert json.loads(play(PROGRAM).stdout)["said"] == "false\n"


def test_without_a_gpu_nothing_is_said_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if find_gpus() is not None:
        pytest.skip("this machine has an NVIDIA GPU that answers")
    monkeypatch.setenv("FAKE_NVML", str(tmp_path / "state"))
    monkeypatch.delenv(LIBRARY_VARIABLE, raising=False)
    told = json.loads(play(PROGRAM).stdout)
    assert (set(told["points"]), "gpu" in told["runtime"], told["said"]) == ({None}, False, "unset\n")
    assert "GPU" not in told["text"]


def test_doctor_says_whether_nvml_answers(state: Path) -> None:
    command = [sys.executable, "-m", "outlive", "doctor", "--format", "json"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    (row,) = [row for row in found["checks"] if row["name"] == "NVML"]
    assert (row["state"], row["group"]) == ("ok", "accelerators")
