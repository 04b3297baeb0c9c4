"""Real kernels die in every way there is, and the restarted kernel says in which."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from outlive.meter import make_cgroup
from tests.deaths import scenes
from tests.deaths.restrictions import linux_only
from tests.jupyter.kernel import Kernel, started

pytestmark = linux_only

LOAD = "%load_ext outlive"
SEGFAULT = """import faulthandler
def innermost():
    faulthandler._sigsegv()
innermost()
"""
ABORT = "import os\nos.write(2, b'terminate called after throwing\\n')\nos.abort()"
BUS = """import mmap, tempfile
with tempfile.TemporaryFile() as file:
    file.truncate(4096)
    model = mmap.mmap(file.fileno(), 4096)
    file.truncate(0)
    model[0]
"""
THREAD = """import faulthandler, threading
def work():
    faulthandler._sigsegv()
threading.Thread(target=work).start()
__import__("time").sleep(60)
"""
# Ten ways, with the kill for memory below; each is told as what it was.
DEATHS: dict[str, tuple[str, str, str | None, str]] = {
    "SIGSEGV": (SEGFAULT, "D504", "SIGSEGV", "cell [2]:3 in innermost"),
    "SIGABRT": (ABORT, "D505", "SIGABRT", "cell [2]:3 in <module>"),
    "SIGFPE": ("import faulthandler\nfaulthandler._sigfpe()", "D506", "SIGFPE", "cell [2]:2 in <module>"),
    "SIGKILL": ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "D508", "SIGKILL", "in a cell"),
    "os._exit": ("import os\nos._exit(7)", "D509", None, "cell [2]:2 in <module>"),
    "SIGBUS": (BUS, "D504", "SIGBUS", "cell [2]:6 in <module>"),
    "SIGILL": ("import os, signal\nos.kill(os.getpid(), signal.SIGILL)", "D507", "SIGILL", "cell [2]:2"),
    "a thread's": (THREAD, "D504", "SIGSEGV", "cell [2]:3 in work"),
    "an operator": (
        f"import outlive\noutlive.unprotect()\nfrom ai_edge_litert.interpreter import Interpreter\n"
        f"dying = Interpreter({scenes.DEADLY!r})\ndying.allocate_tensors()\ndying.invoke()",
        "O109", "SIGSEGV", "operator 3, LOCAL_RESPONSE_NORMALIZATION",
    ),
    "C exit": ("import ctypes\nctypes.CDLL(None)._exit(9)", "D509", None, "in a cell"),
}  # fmt: skip


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("box")


@pytest.fixture(scope="module")
def running(shelf: Path) -> Iterator[Kernel]:
    """One kernel, started again after each death, as a notebook does."""
    with started(OUTLIVE_BLACKBOX_DIR=str(shelf)) as kernel:
        yield kernel


@pytest.fixture
def kernel(running: Kernel, shelf: Path) -> Kernel:
    """The kernel, in whose first and only cell outlive was loaded; no record of anything."""
    if running.run("len(In)", counted=False).plain() != "2":
        running.restart()
    if running.run("len(In)", counted=False).plain() == "1":
        begun = running.run(LOAD)
        assert (begun.error, begun.shown) == ("", ())
    for path in shelf.glob("*.json"):
        path.unlink()
    return running


def is_traced(process: int) -> bool:
    return "TracerPid:\t0" not in Path(f"/proc/{process}/status").read_text()


def wait_for(condition: Callable[[], Any], seconds: float = 300.0) -> Any:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def record(shelf: Path) -> dict[str, Any]:
    """The only record, once it is there."""
    paths = wait_for(lambda: list(shelf.glob("*.json")))
    (path,) = paths
    content: dict[str, Any] = json.loads(path.read_text())
    return content


@pytest.mark.parametrize("name", DEATHS)
def test_a_restarted_kernel_says_how_it_died(kernel: Kernel, shelf: Path, name: str) -> None:
    code, verdict, signal_name, place = DEATHS[name]
    recorder = scenes.children(kernel.pid)
    # Its tracer begins in a process of its own; what dies before that has no native stack.
    wait_for(lambda: is_traced(kernel.pid) or len(scenes.children(kernel.pid)) < 2)
    kernel.die(code)
    kernel.restart(now=True)
    shown = kernel.run(LOAD)
    said = shown.plain()
    assert f"error[{verdict}]" in said
    assert place in said
    assert "the kernel died in cell [2]" in said
    assert (signal_name or "exit code") in shown.html()
    if name == "SIGABRT":
        assert "terminate called after throwing" in shown.html()
    assert scenes.wait_for_death(recorder) == set()
    (path,) = shelf.glob("*.json")
    assert oct(path.stat().st_mode)[-3:] == "600"


def test_a_death_is_shown_once(kernel: Kernel) -> None:
    kernel.die("import os; os.abort()")
    kernel.restart(now=True)
    assert "D505" in kernel.run(LOAD).plain()
    assert kernel.run("%reload_ext outlive").shown == ()
    assert kernel.run("1 + 1").plain() == "2"


def test_a_kill_for_memory_is_told_from_another_kill(kernel: Kernel, shelf: Path) -> None:
    cgroup = make_cgroup(400_000_000)
    if cgroup is None:
        pytest.skip("needs a memory cgroup of its own, which root (or whoever it was handed to) can make")
    with cgroup:
        # The recorder reads the counter of the cgroup it was started in: load again inside of it.
        assert cgroup.add(kernel.pid)
        assert not kernel.run("%unload_ext outlive\n%load_ext outlive").error
        kernel.die("import numpy as np\nkept = [np.ones(10_000_000) for _ in range(100)]")
        content = record(shelf)
        kernel.restart(now=True)
        shown = kernel.run(LOAD)
    said = shown.html()
    assert content["status"] == 9
    assert not cgroup.path.exists()
    assert content["oom_kills"][1] > content["oom_kills"][0]
    assert "error[D501]" in shown.plain()
    assert "out-of-memory kill counter rose" in said
    assert "381 MiB, all that this container has" in said
    assert "at least" in said
    assert max(point["bytes"] for point in content["timeline"]) > 50_000_000


def busy_restart(kernel: Kernel) -> None:
    kernel.client.execute("import time; time.sleep(60)")
    kernel.manager.shutdown_wait_time = 0.5
    kernel.restart()


def stopped(kernel: Kernel) -> None:
    """The kernel ends of its own accord, as after `exit`."""
    kernel.client.execute("get_ipython().kernel.io_loop.stop()")
    kernel.wait_until_dead()
    kernel.restart(now=True)


def asked_by_the_system(kernel: Kernel) -> None:
    os.kill(kernel.pid, signal.SIGTERM)
    kernel.wait_until_dead()
    kernel.restart(now=True)


@pytest.mark.parametrize("end", [Kernel.restart, busy_restart, stopped, asked_by_the_system])
def test_a_normal_end_is_no_death(kernel: Kernel, shelf: Path, end: Callable[[Kernel], None]) -> None:
    recorder = scenes.children(kernel.pid)
    assert recorder
    end(kernel)
    assert scenes.wait_for_death(recorder) == set()
    assert list(shelf.iterdir()) == []
    assert kernel.run(LOAD).shown == ()


SERVER = """
from tests.jupyter.kernel import Kernel
kernel = Kernel()
begun = kernel.run("%load_ext outlive")
say(pid=kernel.pid, error=begun.error)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_kernel_whose_server_is_gone_did_not_die(tmp_path: Path) -> None:
    with scenes.start(SERVER, env={"OUTLIVE_BLACKBOX_DIR": str(tmp_path)}) as server:
        out, _ = server.communicate(timeout=300)
    facts = json.loads(out)
    assert facts["error"] == ""
    assert scenes.wait_for_death({facts["pid"]}) == set()
    assert wait_for(lambda: not list(tmp_path.iterdir()))
    assert list(tmp_path.iterdir()) == []


def test_a_death_between_cells_is_told_as_such(kernel: Kernel, shelf: Path) -> None:
    kernel.run("x = 1")
    kernel.kill()
    kernel.wait_until_dead()
    content = record(shelf)
    assert (content["busy"], content["status"], content["cell"]["number"]) == (False, 9, 2)
    kernel.restart(now=True)
    assert "the kernel died between cells, after cell [2]" in kernel.run(LOAD).plain()


def test_a_kill_that_takes_the_recorder_along_is_still_a_record(kernel: Kernel) -> None:
    recorder = kernel.recorder
    kernel.die(f"import os\nos.kill({recorder}, 9)\nos.kill(os.getpid(), 9)")
    kernel.restart(now=True)
    said = kernel.run(LOAD).plain()
    assert "error[D510]" in said
    assert "in cell [2]" in said


def test_another_notebook_does_not_show_it(kernel: Kernel, shelf: Path) -> None:
    kernel.run("%unload_ext outlive\nimport os; os.environ['JPY_SESSION_NAME'] = 'mine.ipynb'")
    kernel.run(LOAD)
    kernel.die("os.abort()")
    assert record(shelf)["notebook"] == "mine.ipynb"
    with started(JPY_SESSION_NAME="other.ipynb", OUTLIVE_BLACKBOX_DIR=str(shelf)) as other:
        assert other.run(LOAD).shown == ()
    kernel.restart(now=True)
    assert "D505" in kernel.run(LOAD).plain()


def test_stack_dumps_also_go_where_the_user_wants_them(kernel: Kernel, tmp_path: Path) -> None:
    wanted = tmp_path / "my_faults.txt"
    kernel.run(f"import faulthandler\nfile = open({str(wanted)!r}, 'w')\nfaulthandler.enable(file)")
    recorder = kernel.recorder
    assert wait_for(lambda: str(wanted) in _opened(recorder)), "the recorder looks four times a second"
    kernel.die("faulthandler._sigsegv()")
    assert wait_for(lambda: "Fatal Python error: Segmentation fault" in wanted.read_text())
    kernel.restart(now=True)
    assert "D504" in kernel.run(LOAD).plain()


def _opened(pid: int) -> set[str]:
    folder = Path(f"/proc/{pid}/fd")
    return {os.readlink(folder / name) for name in os.listdir(folder)}


def test_what_native_code_prints_still_arrives(kernel: Kernel) -> None:
    cell = kernel.run("import os, time\nos.write(2, b'native words\\n')\ntime.sleep(2)")
    assert "native words" in cell.text
    kernel.run("for _ in range(3000):\n    os.write(2, b'x' * 99 + b'\\n')")
    assert kernel.run("1 + 1").plain() == "2"


def test_a_crash_of_a_forked_copy_is_not_the_kernels(kernel: Kernel, shelf: Path) -> None:
    fork = "import os, faulthandler\npid = os.fork()\nif pid == 0:\n    faulthandler._sigsegv()\n"
    assert not kernel.run(fork + "os.waitpid(pid, 0)").error
    kernel.die("os.kill(os.getpid(), 9)")
    content = record(shelf)
    assert (content["status"], content["fault_trace"]) == (9, "")
    kernel.restart(now=True)
    assert "D508" in kernel.run(LOAD).plain()


def test_a_kernel_without_its_recorder_goes_on(kernel: Kernel) -> None:
    recorder = kernel.recorder
    os.kill(recorder, signal.SIGKILL)
    scenes.wait_for_death({recorder})
    cell = kernel.run("import os, time\nos.write(2, b'still heard\\n')\ntime.sleep(2)")
    assert (cell.error, "still heard" in cell.text) == ("", True)
