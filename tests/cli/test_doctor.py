"""`outlive doctor` says what is missing, wherever it runs, and never falls over."""

from __future__ import annotations

import json
import os
import platform
import resource
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import outlive
from outlive.cli import main

SOURCE = Path(__file__).parents[2] / "src"
RUN = """
import sys
from outlive.cli.main import main
sys.exit(main(["doctor", *sys.argv[1:]]))
"""
linux_only = pytest.mark.skipif(platform.system() != "Linux", reason="takes away what only Linux has")
as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root, to take privileges and mounts away"
)


def run_doctor(
    *words: str, before: Sequence[str] = (), limits: dict[int, int] | None = None, code: str = RUN
) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, started through `before`, under resource limits."""

    def limit() -> None:
        for kind, size in (limits or {}).items():
            resource.setrlimit(kind, (size, size))

    return subprocess.run(
        [*before, sys.executable, "-B", "-c", code, *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONWARNINGS": "error"},
        preexec_fn=limit if limits else None,
    )


def states(ended: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    """The checks by name, from a run that said nothing on stderr."""
    assert ended.stderr == ""
    document = json.loads(ended.stdout)
    assert (document["schema"], document["kind"]) == ("outlive/1", "doctor")
    assert document["ready"] == (ended.returncode == 0)
    return {check["name"]: check for check in document["checks"]}


def test_text_and_json_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["doctor", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert main.main(["doctor"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("✓ this machine  models can run here")
    for check in document["checks"]:
        assert list(check) == ["group", "name", "state", "needed", "found", "meaning", "remedy"]
        line = next(line for line in text.splitlines() if check["name"] in line and check["meaning"] in line)
        assert check["state"] in line
        assert check["remedy"] in text
    groups = [check["group"] for check in document["checks"]]
    assert len({*groups}) == sum(a != b for a, b in zip(groups, [None, *groups], strict=False))


def test_python_has_the_same() -> None:
    seen = outlive.doctor()
    assert seen.ready
    assert seen["a runtime"].state == "ok"
    assert (seen.removed, len(seen.caches)) == ((), 3)
    assert len(repr(seen)) < 400


def test_output_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "doctor.json"
    assert main.main(["doctor", "--format", "json", "--output", str(path)]) == 0
    assert json.loads(path.read_text())["kind"] == "doctor"
    assert capsys.readouterr().out == ""


def test_no_runtime_at_all_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("outlive.environment.packages.find_version", lambda package: None)
    monkeypatch.setattr("outlive.environment.packages._has_module", lambda name: False)
    assert main.main(["doctor"]) == 1
    text = capsys.readouterr().out
    assert text.startswith("✗ this machine  not ready: a runtime, numpy missing")
    assert "pip install ai-edge-litert" in text


def test_as_a_process_it_imports_no_runtime() -> None:
    code = RUN.replace("sys.exit(", "code = (") + (
        "\nnative = {'ai_edge_litert', 'tensorflow', 'numpy', 'openvino'} & set(sys.modules)"
        "\nsys.exit(f'imported {native}' if native else code)"
    )
    assert states(run_doctor("--format", "json", code=code))["a runtime"]["state"] == "ok"


# --- restricted places ------------------------------------------------------------------------------


@linux_only
@pytest.mark.parametrize(
    ("kind", "size", "name"),
    [
        ("AS", 400 << 20, "RLIMIT_AS"),
        ("DATA", 100 << 20, "RLIMIT_DATA"),
        ("NOFILE", 16, "RLIMIT_NOFILE"),
        ("NPROC", 8, "RLIMIT_NPROC"),
    ],
)
def test_low_limits_are_told(kind: str, size: int, name: str) -> None:
    checks = states(run_doctor("--format", "json", limits={getattr(resource, f"RLIMIT_{kind}"): size}))
    assert checks[name]["state"] == "limited"
    assert checks[name]["remedy"].startswith("ulimit")
    if kind in ("AS", "DATA"):
        assert checks["memory"]["state"] == "limited"


NOBODY = (
    # The tests' Python may lie where nobody may look: that one privilege is left.
    "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
    "--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search",
)  # fmt: skip
needs_setpriv = pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv, of util-linux")
needs_unshare = pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare, of util-linux")


@linux_only
@as_root
@needs_setpriv
def test_as_nobody() -> None:
    ended = run_doctor("--format", "json", before=NOBODY)
    if "unsupported" in ended.stderr or "Operation not permitted" in ended.stderr:
        pytest.skip(f"setpriv may not drop privileges here: {ended.stderr.strip()}")
    checks = states(ended)
    assert checks["own cgroup"]["state"] == "missing"
    assert checks["fork"]["state"] == "ok"


@linux_only
@as_root
@needs_setpriv
def test_where_no_process_can_be_started_no_model_can_be_run() -> None:
    # Set by nobody itself: root is not bound by it, and some systems refuse to start a program over it.
    limit = "import resource; resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))"
    ended = run_doctor("--format", "json", before=NOBODY, code=limit + RUN)
    checks = states(ended)
    assert ended.returncode == 1
    assert checks["processes"]["state"] == "missing"
    assert "ulimit -u" in checks["processes"]["remedy"]


def run_in_own_mounts(commands: str) -> subprocess.CompletedProcess[str]:
    """The command with a private view of the file system, changed by `commands` first."""
    tried = subprocess.run(
        ["unshare", "-m", "sh", "-c", commands], capture_output=True, text=True, check=False
    )
    if tried.returncode:
        pytest.skip(f"no private mounts can be made here: {tried.stderr.strip()}")
    return run_doctor(
        "--format", "json", before=("unshare", "-m", "sh", "-c", f'{commands} && exec "$0" "$@"')
    )


@linux_only
@as_root
@needs_unshare
@pytest.mark.parametrize(("options", "words"), [("size=64m", "64.0 MiB"), ("ro", "not accessible")])
def test_little_or_no_shared_memory(options: str, words: str) -> None:
    checks = states(run_in_own_mounts(f"mount -t tmpfs -o {options} none /dev/shm"))
    assert checks["/dev/shm"]["state"] == "limited"
    assert words in checks["/dev/shm"]["found"]
    assert checks["memfd"]["state"] == "ok"


@linux_only
@as_root
@needs_unshare
def test_without_proc_and_sys() -> None:
    checks = states(run_in_own_mounts("mount -t tmpfs none /proc && mount -t tmpfs none /sys"))
    assert checks["memory"]["found"] != "not known"
    assert checks["cgroup"]["state"] == "missing"
    assert checks["oom_score_adj"]["state"] == "limited"


@linux_only
@as_root
@needs_unshare
def test_with_a_read_only_proc_sys_and_cgroups() -> None:
    commands = "mount -o remount,bind,ro /proc && mount --bind /sys /sys && mount -o remount,bind,ro /sys"
    checks = states(run_in_own_mounts(commands))
    assert checks["oom_score_adj"]["state"] == "limited"
    assert "Read-only" in checks["oom_score_adj"]["found"]


# Installs a seccomp filter: system call {number} is answered with {action}; then the doctor runs under it.
FILTERED = """
import ctypes, struct
code = [(0x20, 0, 0, 0), (0x15, 0, 1, {number}), (0x06, 0, 0, {action}), (0x06, 0, 0, 0x7FFF0000)]
program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_void_p)]
libc = ctypes.CDLL(None, use_errno=True)
filter = Filter(len(code), ctypes.addressof(program))
assert libc.prctl(38, 1, 0, 0, 0) == 0
if libc.prctl(22, 2, ctypes.byref(filter), 0, 0) != 0:
    raise SystemExit("no seccomp")
"""
NUMBERS = {"x86_64": {"ptrace": 101, "memfd": 319}, "aarch64": {"ptrace": 117, "memfd": 279}}
REFUSE, KILL = 0x00050001, 0x80000000


@linux_only
@pytest.mark.parametrize("name", ["ptrace", "memfd"])
@pytest.mark.parametrize("action", [REFUSE, KILL], ids=["refused", "killed"])
def test_under_a_seccomp_filter(name: str, action: int) -> None:
    numbers = NUMBERS.get(platform.machine())
    if numbers is None:
        pytest.skip(f"the numbers of system calls on {platform.machine()} are not in this test")
    ended = run_doctor("--format", "json", code=FILTERED.format(number=numbers[name], action=action) + RUN)
    if "no seccomp" in ended.stderr:
        pytest.skip("this kernel has no seccomp filters")
    check = states(ended)[name]
    assert check["state"] in ("limited", "missing")
    assert ("SIGSYS" if action == KILL else "not permitted") in check["found"]
