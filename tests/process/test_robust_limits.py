"""What a limit is of: memory that is used. What is only reserved, such as stacks of threads, is free."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import outlive
from outlive.meter import MachineMemory, make_cgroup
from outlive.process.limits import Limits, default_memory_bytes
from tests.deaths import scenes
from tests.deaths.restrictions import linux_only, without_call

GB = 10**9


def machine(**sizes: Any) -> MachineMemory:
    known = {"total_bytes": 16 * GB, "available_bytes": 10 * GB, "swap_total_bytes": 0, "swap_free_bytes": 0}
    return MachineMemory(**{**known, **sizes})


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ({}, 9.5 * GB),  # a twentieth of what is left stays with the others
        ({"available_bytes": GB // 2}, GB // 2 - 50_000_000),  # or fifty megabytes, if that is more
        ({"available_bytes": 50_000_000}, 200_000_000),  # the system finds more when it has to
        ({"swap_free_bytes": 10 * GB}, 19 * GB),
        (
            {"cgroup_limit_bytes": 4 * GB, "cgroup_used_bytes": 2 * GB, "swap_free_bytes": 10 * GB},
            1.9 * GB,
        ),
        ({"cgroup_limit_bytes": 64 * GB, "cgroup_used_bytes": 2 * GB}, 9.5 * GB),
        ({"available_bytes": None}, 15.2 * GB),
        ({"available_bytes": None, "total_bytes": None}, None),
        # Where only the worker would be killed, nothing has to be kept back.
        ({"oom_spares_others": True}, 10 * GB),
        ({"oom_spares_others": True, "cgroup_limit_bytes": GB, "cgroup_used_bytes": GB // 4}, 0.75 * GB),
    ],
)
def test_the_default_is_most_of_what_is_left(sizes: dict[str, Any], expected: float | None) -> None:
    assert default_memory_bytes(machine(**sizes)) == expected


def test_what_is_asked_for_is_taken() -> None:
    assert Limits(memory="512MB").effective_memory_bytes() == 512_000_000
    assert Limits(memory=64 * GB).effective_memory_bytes() == 64 * GB


@pytest.mark.parametrize("limits", [{"memory": 0}, {"memory": "0KB"}, {"seconds": 0}, {"seconds": -1}])
def test_nothing_is_not_a_limit(limits: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"leaves no memory|has passed"):
        Limits(**limits)


IN_A_SMALL_CONTAINER = """
from outlive.meter import make_cgroup
cgroup = make_cgroup(400_000_000)
if cgroup is None or not cgroup.add(os.getpid()):
    say(refused=True)
    sys.exit()

def reserve():
    import mmap
    return len(mmap.mmap(-1, 1 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))

say(plain=reserve(), guarded=outlive.guard(reserve)(), path=str(cgroup.path))
one, many = open_healthy(num_threads=1), open_healthy(num_threads=64)
say(same=np.array_equal(result(one), result(many)), threads=len(os.listdir(f"/proc/{many.pid}/task")))
"""


@linux_only
def test_what_is_only_reserved_is_not_refused_in_a_small_container() -> None:
    own = make_cgroup(GB)
    if own is None:
        pytest.skip("needs a memory cgroup of its own, which root (or whoever it was handed to) can make")
    own.close()
    facts = scenes.play(IN_A_SMALL_CONTAINER)
    Path(facts["path"]).rmdir()
    assert facts["plain"] == facts["guarded"] == 1 << 30  # more than the container has
    assert (facts["same"], facts["threads"]) == (True, 64)


NEARLY_ALL_THAT_IS_LEFT = """
from outlive.meter import make_cgroup, read_machine
cgroup = make_cgroup(500_000_000)
if cgroup is None or not cgroup.add(os.getpid()):
    say(refused=True)
    sys.exit()

def hold(size):
    return len(bytearray(b"x") * size)

guarded = outlive.guard(hold)
guarded(1)
machine = read_machine()
left = machine.cgroup_limit_bytes - machine.cgroup_used_bytes
time.sleep(1.1)  # until the default limit is read anew
say(left=left, held=guarded(left - 25_000_000), path=str(cgroup.path))
try:
    guarded(2 * left)
except outlive.OutliveError as error:
    say(code=error.finding.code)
"""


@linux_only
def test_what_would_run_plainly_is_not_refused_by_default() -> None:
    own = make_cgroup(GB)
    if own is None:
        pytest.skip("needs a memory cgroup of its own, which root (or whoever it was handed to) can make")
    own.close()
    facts = scenes.play(NEARLY_ALL_THAT_IS_LEFT)
    while Path(facts["path"]).exists():  # a killed process leaves it a moment later; the time-out ends this
        with contextlib.suppress(OSError):
            Path(facts["path"]).rmdir()
        time.sleep(0.01)
    assert facts["held"] == facts["left"] - 25_000_000  # 50 MB used to be kept back
    assert facts["code"] in ("D501", "D502")  # and the parent lives


def stack_limit(pid: object) -> str:
    lines = Path(f"/proc/{pid}/limits").read_text().splitlines()
    return next(line for line in lines if line.startswith("Max stack size"))


@linux_only
def test_stacks_of_threads_are_no_part_of_a_models_limit() -> None:
    with scenes.open_healthy(num_threads=64, memory="8MB") as interpreter:
        scenes.result(interpreter)
        status = dict(
            line.split(":", 1) for line in Path(f"/proc/{interpreter.pid}/status").read_text().splitlines()
        )
        ours, theirs = (stack_limit(pid) for pid in ("self", interpreter.pid))
    assert ours == theirs  # that of the first thread, which may call itself as deeply as ever
    assert int(status["Threads"]) == 64
    assert int(status["VmData"].split()[0]) < 64 * 4096  # 8 MiB each would be twice as much


def test_a_delegate_that_gets_no_memory_is_told_as_that() -> None:
    with (
        pytest.raises(outlive.LimitReached) as caught,
        outlive.Interpreter(scenes.TOO_BIG, memory="300MB") as big,
    ):
        big.allocate_tensors()  # "failed to reshape runtime", with a third of the limit in use
    assert caught.value.finding.code == "D502"


START_THREADS = """
def start(count):
    import threading
    done = threading.Event()
    threads = [threading.Thread(target=done.wait) for _ in range(count)]
    for thread in threads:
        thread.start()
    done.set()
    for thread in threads:
        thread.join()
    return count

def hold(size):
    return len(bytearray(size))

started = [outlive.guard(start, memory="40MB")(count) for count in (48, 1, 48)]
try:
    outlive.guard(hold, memory="40MB")(4 << 30)
except MemoryError as error:
    say(refused=type(error).__name__)
say(started=started)
"""


@linux_only
@pytest.mark.parametrize("lines", ["", without_call("ptrace")], ids=["traced", "untraced"])
def test_stacks_of_threads_are_no_part_of_a_functions_limit(lines: str) -> None:
    facts = scenes.play(lines + START_THREADS)
    assert (facts["started"], facts["refused"]) == ([48, 1, 48], "MemoryError")


@pytest.fixture(params=["missing", "folder", "empty"])
def no_model(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    (tmp_path / "empty.tflite").touch()
    names = {"missing": "nope.tflite", "folder": "", "empty": "empty.tflite"}
    return str(tmp_path / names[request.param])


def test_a_limit_changes_nothing_about_what_is_no_model(no_model: str) -> None:
    caught = []
    for limits in ({}, {"memory": "512MB"}):
        with pytest.raises(outlive.ModelError) as raised:
            outlive.Interpreter(no_model, **limits)
        caught.append(raised.value)
    assert caught[0].finding.code == caught[1].finding.code
    assert caught[0].finding.code in ("F101", "F102", "F103")
    assert str(caught[0]).split("\n", 1)[0] == str(caught[1]).split("\n", 1)[0]


def test_a_run_of_no_model_names_the_file(no_model: str) -> None:
    for limits in (None, Limits(memory="100MB")):
        with pytest.raises(outlive.ModelError) as raised:
            outlive.run(no_model, limits=limits)
        assert raised.value.finding.code in ("F101", "F102", "F103")


def test_the_command_says_so_too(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "outlive", "run", "nope.tflite", "--memory", "100MB"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert ended.returncode == 1
    assert "error[F101]" in ended.stderr
    assert "D5" not in ended.stdout + ended.stderr


@linux_only
def test_a_worker_that_was_not_forked_watches_itself() -> None:
    facts = scenes.play("""
    import resource
    from outlive.process import factories
    factories.can_fork = lambda kind: False
    interpreter = outlive.Interpreter(TOO_BIG, memory="100MB")
    resource.prlimit(interpreter.pid, resource.RLIMIT_DATA, (-1, -1))
    try:
        scenes.run_whole(interpreter, 1000)
    except outlive.LimitReached as error:
        say(code=error.finding.code, ended_by=error.flight.ended_by, signal=error.flight.signal)
    """)
    assert (facts["code"], facts["ended_by"], facts["signal"]) == ("D502", "memory", "SIGABRT")
