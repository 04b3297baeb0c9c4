"""Workers in the sandbox of the operating system: what they cannot do, and that nothing else changes."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive.demo_models import path as path_of
from outlive.platforms.posix.child import sandbox
from outlive.process.limits import choose_mode, make_settings
from outlive.process.worker_factory import WorkerKind

HEALTHY, DEADLY = str(path_of("healthy")), str(path_of("deadly"))
SOURCE = Path(__file__).with_name("hostile_delegate.c")
WHOLE = {"parts": f"landlock {sandbox.landlock_version()}, seccomp", "why": ""}
OFTEN_SWITCHED_OFF = {"io_uring", "userfaultfd"}
MUST_WORK = {"signal itself", "read its own status"}

needs_sandbox = pytest.mark.skipif(
    not (sandbox.landlock_version() and sandbox.has_seccomp()),
    reason="needs Linux with landlock and seccomp on x86-64 or arm64: outlive doctor says what is missing",
)
needs_compiler = pytest.mark.skipif(
    not shutil.which("cc"), reason="needs a C compiler to build a delegate library: apt install gcc"
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("hostile") / "libhostile.so"
    flags = ("-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror")
    subprocess.run(["cc", *flags, "-o", str(path), str(SOURCE)], check=True)
    return str(path)


@pytest.fixture
def targets(tmp_path: Path) -> Iterator[dict[str, str]]:
    """What an attacker would like to reach: files, this process, another process, a server."""
    secret, movable = tmp_path / "secret.txt", tmp_path / "movable.txt"
    secret.write_text("secret")
    movable.write_text("movable")
    held = ctypes.create_string_buffer(b"in memory")
    with socket.create_server(("127.0.0.1", 0)) as server, subprocess.Popen(["sleep", "60"]) as victim:
        try:
            yield {
                "secret": str(secret),
                "movable": str(movable),
                "new": str(tmp_path / "new.txt"),
                "parent": str(os.getpid()),
                "address": str(ctypes.addressof(held)),
                "port": str(server.getsockname()[1]),
                "victim": str(victim.pid),
            }
        finally:
            victim.kill()


def attack(library: str, targets: dict[str, str], mode: str) -> dict[str, int]:
    """What a hostile delegate library could do, by action: 0 if it worked, else the error it got."""
    delegate = outlive.load_delegate(library, targets)
    with pytest.raises(ValueError, match="Failed to load delegate") as caught:
        outlive.Interpreter(HEALTHY, experimental_delegates=[delegate], sandbox=mode)
    told = str(caught.value).splitlines()[1]
    return {name: int(number) for name, number in re.findall(r"([^=;]+)=(\d+);", told)}


@needs_sandbox
@needs_compiler
def test_a_hostile_delegate_can_do_nothing_in_the_sandbox(library: str, targets: dict[str, str]) -> None:
    free = attack(library, targets, "off")
    assert len(free) == 25
    # A kernel or a container may refuse these two to everybody; everything else works without a sandbox.
    assert {name for name, code in free.items() if code} <= OFTEN_SWITCHED_OFF
    os.remove(targets["new"])

    confined = attack(library, targets, "on")
    assert confined.keys() == free.keys()
    assert {name for name, code in confined.items() if not code} == MUST_WORK
    codes = set(confined.values()) - {0}
    assert codes <= {errno.EACCES, errno.EPERM, errno.ENOSYS, errno.EFBIG}
    assert confined["fill memory through stderr"] == errno.EFBIG
    assert not Path(targets["new"]).exists()


def payload(targets: dict[str, str]) -> dict[str, int]:
    """The same by Python and ctypes, from a guarded function."""
    libc = ctypes.CDLL(None, use_errno=True)

    def fork() -> None:
        if not os.fork():
            os._exit(0)
        os.wait()

    def trace(victim: int) -> None:
        if libc.ptrace(0x4206, victim, None, None) < 0:  # PTRACE_SEIZE
            raise OSError(ctypes.get_errno(), "")
        libc.ptrace(0x4207, victim, None, None)  # PTRACE_INTERRUPT, to be able to let go again
        os.waitpid(victim, 0x40000000)
        libc.ptrace(17, victim, None, None)

    def unshare() -> None:
        if libc.unshare(0x400) < 0:  # CLONE_FILES
            raise OSError(ctypes.get_errno(), "")

    parent, victim = int(targets["parent"]), int(targets["victim"])
    actions = {
        "read /etc/passwd": lambda: open("/etc/passwd").close(),
        "read a file of the user": lambda: open(targets["secret"]).close(),
        "write a new file": lambda: open(targets["new"], "w").close(),
        "list a folder of the user": lambda: os.listdir(os.path.dirname(targets["secret"])),
        "remove a file": lambda: os.remove(targets["new"]),
        "change a file's times": lambda: os.utime(targets["secret"]),
        "open the parent's memory": lambda: open(f"/proc/{parent}/mem", "rb").close(),
        "signal the parent": lambda: os.kill(parent, 0),
        "signal everybody": lambda: os.kill(-1, 0),
        "connect by TCP": lambda: socket.create_connection(("127.0.0.1", int(targets["port"]))).close(),
        "open a Unix socket": lambda: socket.socket(socket.AF_UNIX).close(),
        "fork": fork,
        "spawn": lambda: subprocess.run(["/bin/true"], check=True),
        "trace another": lambda: trace(victim),
        "slow another down": lambda: os.setpriority(os.PRIO_PROCESS, victim, 1),
        "unshare": unshare,
    }

    seen = {}
    for name, action in actions.items():
        try:
            action()
            seen[name] = 0
        except OSError as error:
            seen[name] = error.errno or -1
    return seen


@needs_sandbox
def test_a_guarded_function_can_do_nothing_in_the_sandbox(targets: dict[str, str]) -> None:
    free = outlive.guard(payload, fresh=True)(targets)
    assert set(free.values()) == {0}, free
    confined = outlive.guard(payload, sandbox="on")(targets)
    assert confined.keys() == free.keys()
    assert set(confined.values()) <= {errno.EACCES, errno.EPERM}, confined


@needs_sandbox
def test_a_guarded_function_in_the_sandbox_computes_and_is_called_again() -> None:
    def double(values: Any) -> tuple[int, Any]:
        return os.getpid(), values @ values

    guarded = outlive.guard(double, sandbox="on")
    values = np.arange(1_000_000, dtype=np.float64).reshape(1000, 1000)  # too large for the pipe
    first, result = guarded(values)
    second, _ = guarded(values)
    assert first == second
    assert np.array_equal(result, values @ values)
    # A worker in a sandbox is nobody else's, and nobody else's is put in one.
    assert outlive.guard(os.getpid)() != first
    with pytest.raises(ValueError, match="sandbox is"):
        outlive.guard(double, sandbox="perhaps")


@needs_sandbox
def test_it_is_on_by_default_and_changes_no_result() -> None:
    flights = {mode: outlive.run(HEALTHY, sandbox=mode, num_threads=64) for mode in (None, "on", "off")}
    assert flights[None].limits["sandbox"] == flights["on"].limits["sandbox"] == WHOLE
    assert flights["off"].limits["sandbox"] == {"parts": "", "why": "it was switched off"}
    assert len({flight.outputs for flight in flights.values()}) == 1
    assert all(flight.timeline for flight in flights.values())


@needs_sandbox
def test_the_kernel_says_that_a_worker_is_in_it() -> None:
    with outlive.Interpreter(HEALTHY) as interpreter:
        status = Path(f"/proc/{interpreter.pid}/status").read_text()
        limits = Path(f"/proc/{interpreter.pid}/limits").read_text()
    assert re.search(r"^NoNewPrivs:\s1$", status, re.M)
    assert re.search(r"^Seccomp:\s2$", status, re.M)
    assert re.search(
        rf"^Max file size\s+{sandbox.MOST_FILE_BYTES}\s+{sandbox.MOST_FILE_BYTES}\s", limits, re.M
    )


def test_no_place_is_left_out_because_it_could_not_be_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    # Without /proc/cpuinfo XNNPACK takes other kernels: results would differ in their last bits, silently.
    monkeypatch.setattr(sandbox.os.path, "exists", lambda _: False)
    assert "/proc/cpuinfo" in sandbox._usual_places.__wrapped__()


@needs_sandbox
def test_a_death_in_the_sandbox_is_told_as_without_it() -> None:
    told = {mode: outlive.run(DEADLY, sandbox=mode) for mode in ("on", "off")}
    on, off = told["on"], told["off"]
    assert (on.died, on.signal, on.stage, on.op) == (off.died, off.signal, off.stage, off.op)
    assert (bool(on.fault_trace), bool(on.frames)) == (bool(off.fault_trace), bool(off.frames))
    assert on.limits["sandbox"] == WHOLE


@needs_sandbox
def test_tensors_larger_than_the_limit_on_files_are_shared() -> None:
    side = 2400  # 23 MB an input
    with outlive.Interpreter(HEALTHY) as interpreter:
        row = interpreter.get_input_details()[0]
        batch = -(-(side * side) // int(np.prod(row["shape"][1:])))
        interpreter.resize_tensor_input(row["index"], [batch, *row["shape"][1:]])
        interpreter.allocate_tensors()
        values = np.ones([batch, *row["shape"][1:]], row["dtype"])
        assert values.nbytes > sandbox.MOST_FILE_BYTES
        interpreter.set_tensor(row["index"], values)
        interpreter.invoke()
        found = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    assert np.array_equal(found[0], found[-1])


def test_models_given_by_bytes_by_links_and_by_relative_names_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link.tflite").symlink_to(HEALTHY)
    monkeypatch.chdir(tmp_path)
    digests = {outlive.run(source).outputs for source in (HEALTHY, "link.tflite", Path(HEALTHY).read_bytes())}
    assert len(digests) == 1


@needs_sandbox
@pytest.mark.parametrize("mode", ["on", "off"])
def test_a_file_that_is_not_there_is_told_as_ever(mode: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Could not open"):
        outlive.Interpreter(str(tmp_path / "none.tflite"), sandbox=mode)


@needs_sandbox
@needs_compiler
def test_auto_leaves_it_off_where_more_is_needed_and_says_why(tmp_path: Path) -> None:
    from tests.accelerators.small_library import build

    interpreter = outlive.Interpreter(HEALTHY, experimental_delegates=[outlive.load_delegate(build())])
    with interpreter:
        seen = interpreter.story().limits["sandbox"]
    assert seen == {"parts": "", "why": "a delegate library may need devices and files of its own"}


@needs_sandbox
def test_a_compiled_model_has_it_on_the_cpu() -> None:
    model = outlive.CompiledModel.from_file(HEALTHY, sandbox="on")
    with contextlib.closing(model):
        assert model._session.story().limits["sandbox"] == WHOLE
        inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
        inputs[0].write(np.zeros((1, 64, 64, 3), np.float32))
        model.run_by_index(0, inputs, outputs)


# A container that does not know these calls (Docker before 2022 knew no landlock): a filter around us all.
INSIDE_A_CONTAINER = """
import ctypes, struct, sys
lines = [(0x20, 0, 0, 0)]
for number in sys.argv[2:]:
    lines += [(0x15, 0, 1, int(number)), (0x06, 0, 0, 0x50000 | 38)]
code = b"".join(struct.pack("<HBBI", *line) for line in [*lines, (0x06, 0, 0, 0x7FFF0000)])
held = ctypes.create_string_buffer(code, len(code))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, struct.pack("@HP", len(code) // 8, ctypes.addressof(held))) == 0

import outlive
for start in (outlive.Interpreter, outlive.guard(len, sandbox="on")):
    try:
        start(sys.argv[1], sandbox="on") if start is outlive.Interpreter else start("abc")
    except outlive.OutliveError as error:
        print(type(error).__name__, error.finding.code)
flight = outlive.run(sys.argv[1])
print(len(flight.outputs), flight.limits["sandbox"]["parts"] or "none", flight.limits["sandbox"]["why"])
"""
NO_LANDLOCK = "no landlock: this system does not have it, or it is switched off"


@needs_sandbox
@pytest.mark.parametrize(
    ("numbers", "parts", "why"),
    [
        ([444], "seccomp", NO_LANDLOCK),
        ([444, 317, 277], "none", f"{NO_LANDLOCK}; no seccomp: Function not implemented"),
    ],
)
def test_where_it_cannot_be_had_on_refuses_and_auto_says_so(numbers: list[int], parts: str, why: str) -> None:
    command = [sys.executable, "-c", INSIDE_A_CONTAINER, HEALTHY, *map(str, numbers)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == ["RunError E405"] * 2 + [f"1 {parts} {why}"]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"delegates": [("libx.so", {})]}, "a delegate library may need devices and files of its own"),
        ({"custom_ops": ["Register"]}, "custom operators may need files of their own"),
        ({"compiled": {"accelerators": ["GPU", "CPU"]}}, "GPU may need devices and drivers"),
        (
            {"compiled": {"options": {"cpu_options": {"xnnpack_weight_cache_path": "/x"}}}},
            "a weight cache is written to a file",
        ),
        (
            {"kind": WorkerKind(runtime="tensorflow", python=sys.executable)},
            "what tensorflow needs is not known",
        ),
        ({"kind": WorkerKind(runtime="litert", python="/other")}, "what another Python needs is not known"),
    ],
)
def test_auto_is_off_where_more_is_needed_and_on_is_not(changed: dict[str, Any], why: str) -> None:
    usual: dict[str, Any] = {
        "kind": WorkerKind(runtime="litert", python=sys.executable),
        "model_path": "m.tflite",
        "delegates": [],
        "custom_ops": None,
        "compiled": None,
    }
    assert make_settings("auto", **usual) == {"read": ["m.tflite"]}
    assert make_settings("auto", **{**usual, **changed}) == {"off": why}
    libraries = [library for library, _ in changed.get("delegates", [])]
    assert make_settings("on", **{**usual, **changed}) == {"read": ["m.tflite", *libraries]}
    assert make_settings("off", **usual) == {"off": "it was switched off"}


def test_modes_and_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_mode(None) == "auto"
    monkeypatch.setenv("OUTLIVE_SANDBOX", "off")
    assert (choose_mode(None), choose_mode("on")) == ("off", "on")
    assert outlive.run(HEALTHY).limits["sandbox"]["parts"] == ""
    monkeypatch.setenv("OUTLIVE_SANDBOX", "perhaps")
    with pytest.raises(ValueError, match="OUTLIVE_SANDBOX is 'auto', 'on' or 'off', not 'perhaps'"):
        outlive.Interpreter(HEALTHY)


@needs_sandbox
def test_the_command_line_takes_it(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import socket; socket.socket()")
    command = [sys.executable, "-m", "outlive", "guard", "--sandbox"]
    codes = [
        subprocess.run([*command, mode, str(script)], capture_output=True, check=False).returncode
        for mode in ("on", "off")
    ]
    assert codes == [1, 0]
