"""The Jupyter server watches every kernel: real servers, real kernels, real deaths; no browser."""

from __future__ import annotations

import json
import os
import platform
import pty
import signal
import stat
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from outlive import demo_models
from outlive.kernel_deaths import kernel_tracer
from outlive.meter import make_cgroup
from tests.deaths import scenes
from tests.deaths.restrictions import linux_only, without_call
from tests.jupyter.jupyter_server import (
    TIMEOUT_S,
    JupyterServer,
    kernel_spec,
    pid_of,
    run_cell,
    serving,
    streamed,
    wait_for,
    watched,
)
from tests.repetition import repeats, rounds

pytest.importorskip("jupyterlab", reason="needs JupyterLab: pip install jupyterlab")
pytestmark = linux_only

CRASH = "import faulthandler\ndef innermost():\n    faulthandler._sigsegv()\ninnermost()"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JupyterServer]:
    with serving(tmp_path_factory.mktemp("server")) as found:
        yield found


_SEIZE = """import subprocess
from outlive.platforms.posix.child.tracing import ptrace
process = subprocess.Popen(["sleep", "60"])
print(ptrace.seize(process.pid, ptrace.OF_KERNEL))
process.kill()
"""


@pytest.fixture(scope="module")
def tracing() -> None:
    """This machine lets a process be traced by another."""
    if platform.machine() not in ("x86_64", "aarch64"):
        pytest.skip("native frames are read on 64-bit Linux (Intel and Arm) only")
    refused = subprocess.check_output([sys.executable, "-c", _SEIZE], text=True).strip()
    if refused:
        pytest.skip(f"this machine does not let a process be traced: {refused}")


def document(server: JupyterServer, death: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = server.ask(f"outlive/deaths/{death['name']}")
    return found


def has_finding(server: JupyterServer, kernel: str, code: str) -> bool:
    return any(death["kernel"] == kernel and death["code"] == code for death in server.deaths())


def test_a_death_names_cell_line_and_what_to_do(server: JupyterServer) -> None:
    kernel = server.start_kernel()
    run_cell(server, kernel, "x = 1")
    run_cell(server, kernel, CRASH)
    death = server.wait_for_death(kernel)
    assert death["sentence"] == (
        "Cell [2] died: segmentation fault (SIGSEGV) at cell [2]:3 in innermost. "
        "Begin the cell with %%outlive: it then runs in a worker, and the kernel outlives it."
    )
    assert death["cell"].startswith("cell-")
    assert death["sentence"] in server.log()
    whole = document(server, death)
    assert whole["document"]["cell"]["source"] == CRASH
    assert whole["document"]["signal"] == "SIGSEGV"
    assert "innermost" in whole["html"]
    assert "<title>" in whole["page"]


def test_last_words_of_native_code_are_kept_and_shown(server: JupyterServer) -> None:
    kernel = server.start_kernel()
    said = run_cell(server, kernel, "import os, time\nos.write(2, b'native words\\n')\ntime.sleep(1)")
    assert any(one["content"].get("text") == "native words\n" for one in said)
    run_cell(server, kernel, "os.write(2, b'Check failed: size < limit\\n')\nos.abort()")
    death = document(server, server.wait_for_death(kernel))
    assert "Check failed: size < limit" in death["document"]["stderr_tail"]
    assert death["document"]["signal"] == "SIGABRT"


DEADLY = f"""from ai_edge_litert.interpreter import Interpreter
interpreter = Interpreter(model_path={str(demo_models.path("deadly"))!r})
interpreter.allocate_tensors()
interpreter.invoke()
"""


@pytest.mark.usefixtures("tracing")
def test_an_operator_that_dies_in_a_plain_run_is_named(server: JupyterServer) -> None:
    kernel = server.start_kernel()
    run_cell(server, kernel, DEADLY)
    death = server.wait_for_death(kernel)
    assert death["sentence"].startswith(
        "Cell [1] died: segmentation fault (SIGSEGV) in LOCAL_RESPONSE_NORMALIZATION (operator 3) "
        "during invoke, at cell [1]:4 in <module>. Invalid operator option: radius = -16 (deadly.tflite). "
    )
    whole = document(server, death)
    assert whole["document"]["op"] == {"type": "LOCAL_RESPONSE_NORMALIZATION", "subgraph": 0, "index": 3}
    # The first of two stops: faulthandler writes its dump, and raises the signal again.
    assert "tflite::ops::builtin::local_response_norm::Eval" in whole["document"]["frames"]
    assert "faulthandler_fatal_error" not in whole["document"]["frames"]
    assert "in invoke" in whole["document"]["fault_trace"]
    for text in (whole["html"], whole["page"]):
        assert "tflite::ops::builtin::local_response_norm::Eval" in text


def tracer_of(process: int) -> int:
    status = dict(line.split(":\t") for line in Path(f"/proc/{process}/status").read_text().splitlines())
    return int(status["TracerPid"])


BESIDE = """import subprocess, sys, threading
done = subprocess.run([sys.executable, "-c", "print(open('/proc/self/status').read())"], capture_output=True)
threads = [threading.Thread(target=sum, args=((1, 2),)) for _ in range(20)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(done.returncode, done.stdout.decode().partition("TracerPid:")[2].split()[0])
"""


@pytest.mark.usefixtures("tracing")
def test_a_traced_kernel_works_as_ever_and_outlives_its_tracer(server: JupyterServer) -> None:
    kernel = server.start_kernel()
    pid = pid_of(server, kernel)
    wait_for(lambda: tracer_of(pid))
    tracer = tracer_of(pid)
    assert tracer != server.process.pid
    assert streamed(run_cell(server, kernel, BESIDE)) == "0 0\n"
    interrupt(server, kernel)
    os.kill(tracer, signal.SIGKILL)
    wait_for(lambda: not tracer_of(pid))
    assert streamed(run_cell(server, kernel, "print(6 * 7)")) == "42\n"
    assert pid_of(server, kernel) == pid
    run_cell(server, kernel, CRASH)
    assert "segmentation fault (SIGSEGV) at cell " in server.wait_for_death(kernel)["sentence"]
    assert not Path(f"/proc/{tracer}").exists()


@pytest.mark.usefixtures("tracing")
@pytest.mark.parametrize("stopped", [False, True])
def test_the_tracer_goes_with_its_kernel(server: JupyterServer, stopped: bool) -> None:
    kernel = server.start_kernel()
    pid = pid_of(server, kernel)
    wait_for(lambda: tracer_of(pid))
    tracer = tracer_of(pid)
    if stopped:  # then the system tells nobody of the kernel's end, until the server ends the tracer
        os.kill(tracer, signal.SIGSTOP)
    os.kill(pid, signal.SIGKILL)
    assert "SIGKILL" in server.wait_for_death(kernel)["sentence"]
    wait_for(lambda: not Path(f"/proc/{tracer}").exists())


def test_tracing_can_be_switched_off_for_a_debugger(tmp_path: Path) -> None:
    for word in ("off", "0", "no"):
        assert kernel_tracer.prepare(tmp_path, {"OUTLIVE_TRACE_KERNELS": word}) is None


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An environment that has ipykernel, and no outlive."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=120)
    python = folder / "bin" / "python"
    (site,) = folder.glob("lib/python*/site-packages")
    packages = site.parent / "theirs"
    packages.mkdir()
    for path in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if "outlive" not in path.name:
            (packages / path.name).symlink_to(path)
    (site / "theirs.pth").write_text(f"{packages}\n")
    done = subprocess.run(
        [str(python), "-c", "import ipykernel, outlive"], capture_output=True, text=True, check=False
    )
    assert "No module named 'outlive'" in done.stderr
    return str(python)


def test_a_kernel_without_outlive_is_watched_all_the_same(server: JupyterServer, bare_python: str) -> None:
    kernel = server.start_kernel(kernel_spec(server, "bare", [bare_python, "-m", "ipykernel_launcher"]))
    run_cell(server, kernel, CRASH)
    death = server.wait_for_death(kernel)
    assert "Cell [1] died: segmentation fault (SIGSEGV) at cell [1]:3 in innermost" in death["sentence"]


def test_the_variable_that_grows_is_named(server: JupyterServer) -> None:
    kernel = server.start_kernel()
    run_cell(server, kernel, "import numpy as np\nsmall, kept = np.ones(300_000), []")
    run_cell(server, kernel, "kept += [np.ones(500_000) for _ in range(10)]")
    run_cell(server, kernel, "small.sum()")
    found = server.ask(f"outlive/kernels/{kernel}/memory")["growing"]
    assert (found["name"], found["number"]) == ("kept", 2)
    assert 40_000_000 <= found["grown_bytes"] <= found["bytes"] < 41_000_000
    run_cell(server, kernel, "os = __import__('os'); os._exit(3)")
    death = document(server, server.wait_for_death(kernel))
    assert "growing" not in json.dumps(death["document"])


def test_a_kernel_that_notes_nothing_itself_is_known_by_its_messages(server: JupyterServer) -> None:
    # -E: it does not look at its environment, and so knows nothing of the server's folder.
    name = kernel_spec(server, "deaf", [sys.executable, "-E", "-m", "ipykernel_launcher"])
    kernel = server.start_kernel(name)
    run_cell(server, kernel, "x = 1")
    run_cell(server, kernel, "import os\nos.kill(os.getpid(), 11)")
    death = document(server, server.wait_for_death(kernel))
    assert death["sentence"].startswith("Cell [2] died: segmentation fault (SIGSEGV)")
    assert death["document"]["cell"]["source"].startswith("import os")
    assert death["cell"]


def test_a_kernel_that_cannot_start_says_why(server: JupyterServer) -> None:
    code = "import sys; sys.stderr.write('no module for this\\n'); sys.exit(3)"
    kernel = server.start_kernel(kernel_spec(server, "broken", [sys.executable, "-c", code]))
    death = document(server, server.wait_for_death(kernel))
    assert "The kernel died: its process ended with exit code 3" in death["sentence"]
    assert "no module for this" in death["document"]["stderr_tail"]
    server.ask(f"api/kernels/{kernel}", method="DELETE")


def test_a_kill_for_memory_names_the_limit(server: JupyterServer) -> None:
    cgroup = make_cgroup(400_000_000)
    if cgroup is None:
        pytest.skip("needs a memory cgroup of its own, which root (or whoever it was handed to) can make")
    kernel = server.start_kernel()
    with cgroup:
        assert cgroup.add(pid_of(server, kernel))
        wait_for(lambda: server.ask(f"outlive/kernels/{kernel}/memory")["limit_bytes"] <= 400_000_000)
        run_cell(server, kernel, "import numpy as np\nkept = [np.ones(10_000_000) for _ in range(100)]")
        death = server.wait_for_death(kernel)
    assert death["code"] == "D501"
    assert "Cell [2] died: out of memory" in death["sentence"]
    assert "This container has 381 MiB, and the kernel held at least " in death["sentence"]


HANG = """import time
while True:
    try:
        time.sleep(3600)
    except KeyboardInterrupt:
        pass
"""


def test_a_hang_that_is_restarted_says_where_it_hung(server: JupyterServer) -> None:
    kernel = server.start_kernel()
    run_cell(server, kernel, "x = 1")
    run_cell(server, kernel, HANG, wait=False)
    server.ask(f"api/kernels/{kernel}/restart", method="POST")
    death = server.wait_for_death(kernel)
    assert death["hung"]
    assert "Cell [2] did not end: it was still waiting after " in death["sentence"]
    assert " at cell [2]:4 in <module>, when the kernel was restarted. " in death["sentence"]
    assert "Begin the cell with %%outlive --seconds 60" in death["sentence"]


def restart(server: JupyterServer, kernel: str) -> None:
    server.ask(f"api/kernels/{kernel}/restart", method="POST")


def restart_while_a_cell_runs(server: JupyterServer, kernel: str) -> None:
    run_cell(server, kernel, "import time; time.sleep(3600)", wait=False)
    restart(server, kernel)


def interrupt(server: JupyterServer, kernel: str) -> None:
    run_cell(server, kernel, "import time; time.sleep(3600)", wait=False)
    server.ask(f"api/kernels/{kernel}/interrupt", method="POST")
    run_cell(server, kernel, "1")


def quit_by_itself(server: JupyterServer, kernel: str) -> None:
    pid = pid_of(server, kernel)
    run_cell(server, kernel, "quit()")
    wait_for(lambda: not Path(f"/proc/{pid}").exists())


def shut_down(server: JupyterServer, kernel: str) -> None:
    server.ask(f"api/kernels/{kernel}", method="DELETE")


def shut_down_while_a_cell_runs(server: JupyterServer, kernel: str) -> None:
    run_cell(server, kernel, HANG, wait=False)
    shut_down(server, kernel)


def end_politely(server: JupyterServer, kernel: str) -> None:
    os.kill(pid_of(server, kernel), signal.SIGTERM)


@pytest.mark.parametrize(
    "end",
    [restart, restart_while_a_cell_runs, interrupt, quit_by_itself, shut_down,
     shut_down_while_a_cell_runs, end_politely],
)  # fmt: skip
def test_a_normal_end_is_no_death(server: JupyterServer, end: Any) -> None:
    kernel = server.start_kernel()
    pid = pid_of(server, kernel)
    end(server, kernel)
    if end is not interrupt:
        wait_for(lambda: pid not in watched(server))  # its watch has come to an end
    assert not [death for death in server.deaths() if death["kernel"] == kernel]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_server_that_ends_leaves_no_record_and_no_process(tmp_path: Path, number: int) -> None:
    terminal, theirs = pty.openpty()  # only at a terminal does Jupyter end its kernels at Control-C
    with serving(tmp_path, application="jupyter_server", words="-y", stdin=theirs) as server:
        idle, busy = server.start_kernel(), server.start_kernel()
        pids = [pid_of(server, kernel) for kernel in (idle, busy)]
        run_cell(server, busy, HANG, wait=False)
        server.process.send_signal(number)
        server.process.wait(TIMEOUT_S)
        wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
        if number == signal.SIGKILL:  # nobody was left to tidy up; whoever asks next does so
            said = subprocess.run(
                [sys.executable, "-m", "outlive", "blackbox", "list"],
                env={**os.environ, "OUTLIVE_BLACKBOX_DIR": str(server.records)},
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            assert "no kernel has died" in said.stderr
        assert list(server.records.iterdir()) == []
    os.close(terminal)
    os.close(theirs)


def test_protected_means_protected_and_a_memory_limit(server: JupyterServer) -> None:
    kernel = server.start_kernel()
    run_cell(server, kernel, "1")
    assert server.ask(f"outlive/kernels/{kernel}/protect", method="POST") is None
    restart(server, kernel)
    code = "import resource\nfrom ai_edge_litert.interpreter import Interpreter\n"
    code += "print(Interpreter.__mro__[1].__module__, resource.getrlimit(resource.RLIMIT_DATA)[0])"
    (said,) = [one for one in run_cell(server, kernel, code) if one["msg_type"] == "stream"]
    module, limit = said["content"]["text"].split()
    memory = server.ask(f"outlive/kernels/{kernel}/memory")
    assert module.startswith("outlive.")
    assert int(limit) == int(memory["limit_bytes"] * 0.8)
    assert 0 < memory["bytes"] < memory["limit_bytes"]


def test_records_are_private_and_few(server: JupyterServer) -> None:
    paths = list(server.records.glob("*.json"))
    assert 0 < len(paths) <= 20
    assert {stat.S_IMODE(path.stat().st_mode) for path in paths} == {0o600}
    assert stat.S_IMODE(server.records.stat().st_mode) == 0o700


@pytest.mark.parametrize("path", ["deaths", "deaths/x", "kernels/0-0/memory"])
def test_only_users_of_the_server_are_answered(server: JupyterServer, path: str) -> None:
    for token in (None, "wrong"):
        assert server.ask(f"outlive/{path}", token=token) == 403
    assert server.ask("outlive/kernels/0-0/protect", method="POST", token=None) == 403


@pytest.mark.parametrize(
    "name", ["..%2f..%2fetc%2fpasswd", "../server", "%2e%2e", "x.json", "x" * 300, "20260101-000000-1", "%00"]
)
def test_a_name_is_no_path(server: JupyterServer, name: str) -> None:
    (server.records / "secret.json").write_text('{"cell": {"source": "secret"}}')
    try:
        assert server.ask(f"outlive/deaths/{name}") in (400, 404)
    finally:
        (server.records / "secret.json").unlink()


def test_what_a_cell_says_is_escaped(server: JupyterServer) -> None:
    kernel = server.start_kernel()
    hostile = "import os  # <script>alert(1)</script><img src=x onerror=alert(1)>\nos._exit(3)"
    run_cell(server, kernel, hostile)
    death = document(server, server.wait_for_death(kernel))
    for text in (death["html"], death["page"]):
        assert "<script>alert" not in text
        assert "<img src=x" not in text


@pytest.mark.parametrize(
    "fault",
    [
        "from outlive.kernel_deaths import record_store\nrecord_store.open_folder = refuse",
        "from outlive.kernel_deaths.server_watch import ServerWatch\nServerWatch.begin = refuse",
        "from outlive.kernel_deaths.server_watch import ServerWatch\nServerWatch.launch_options = refuse",
        "import outlive.verbs.blackbox\noutlive.verbs.blackbox.watch_kernel = refuse",
        "import sys\nsys.modules['outlive.jupyter.server_extension'] = None",
        "from outlive.kernel_deaths import kernel_tracer\nkernel_tracer.prepare = refuse",
        "from outlive.kernel_deaths.kernel_tracer import KernelTracer\nKernelTracer.trace = refuse",
    ],
)
def test_a_broken_watch_keeps_no_kernel_from_starting(tmp_path: Path, fault: str) -> None:
    planted = f"def refuse(*words, **more):\n    raise RuntimeError('planted')\n{fault}\n"
    # Read by the server as its configuration, before it loads extensions.
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "jupyter_server_config.py").write_text(planted)
    with serving(tmp_path, application="jupyter_server") as server:
        kernel = server.start_kernel()
        said = run_cell(server, kernel, "print(6 * 7)")
        assert any(one["content"].get("text") == "42\n" for one in said)
        assert not list(server.records.glob("*.open"))


def test_where_nobody_may_trace_only_the_native_stack_is_missing(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "jupyter_server_config.py").write_text(without_call("ptrace"))
    with serving(tmp_path, application="jupyter_server") as server:
        kernel = server.start_kernel()
        run_cell(server, kernel, CRASH)
        death = document(server, server.wait_for_death(kernel))
        assert "Cell [1] died: segmentation fault (SIGSEGV) at cell [1]:3 in innermost" in death["sentence"]
        assert death["document"]["untraced"].startswith("ptrace is not permitted")


def test_no_record_where_recording_is_off(tmp_path: Path) -> None:
    with serving(tmp_path, application="jupyter_server", OUTLIVE_BLACKBOX="off") as server:
        kernel = server.start_kernel()
        run_cell(server, kernel, "import os; os.abort()")
        assert server.deaths() == []
        assert not server.records.exists()


def held(process: int) -> dict[str, int]:
    """What a server has: descriptors, threads, processes and memory."""
    folder = Path(f"/proc/{process}")
    resident = (folder / "statm").read_text().split()[1]
    return {
        "descriptors": len(list((folder / "fd").iterdir())),
        "threads": len(list((folder / "task").iterdir())),
        "processes": len(scenes.children(process)),
        "megabytes": int(resident) * os.sysconf("SC_PAGE_SIZE") // 1_000_000,
    }


# What connections that are being closed have, and what the server's own threads and caches may take.
_SLACK = {"descriptors": 4, "threads": 1, "processes": 0, "megabytes": 8}


@repeats
def test_many_deaths_leave_nothing_behind(tmp_path: Path) -> None:
    quick = "--AsyncIOLoopKernelRestarter.time_to_dead=0.3"
    with serving(tmp_path, application="jupyter_server", words=quick) as server:
        kernel = server.start_kernel()
        pid = pid_of(server, kernel)
        rows = []
        for count in range(rounds(6, soak=50)):
            run_cell(server, kernel, "import os\nos.write(2, b'words\\n')\nos.abort()")
            wait_for(partial(are_recorded, server, count + 1), server.log)
            pid = pid_of(server, kernel, before=pid)
            rows.append(held(server.process.pid))
        # By the third everything has been loaded that a death needs.
        bounds = {name: rows[2][name] + more for name, more in _SLACK.items()}
        wait_for(lambda: fits(held(server.process.pid), bounds), lambda: f"{rows} {bounds}")
        assert len(list(server.records.glob("*.open"))) == 1
        assert len(list(server.records.glob("*.json"))) == min(20, len(rows))
        server.ask(f"api/kernels/{kernel}", method="DELETE")
        wait_for(lambda: not list(server.records.glob("*.open")))
        assert {path.suffix for path in server.records.iterdir()} == {".json"}
        wait_for(lambda: not scenes.children(server.process.pid))


def fits(found: dict[str, int], bounds: dict[str, int]) -> bool:
    return all(found[name] <= bound for name, bound in bounds.items())


def are_recorded(server: JupyterServer, count: int) -> bool:
    """Whether so many deaths are recorded, as far as they are kept."""
    return len(list(server.records.glob("*.json"))) >= min(20, count)
