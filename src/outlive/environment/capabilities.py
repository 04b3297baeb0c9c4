"""What this machine offers: one `Check` per thing, found by looking and by trying, never by importing."""

from __future__ import annotations

import importlib.util
import platform
import sys
from pathlib import Path
from typing import Any

from outlive.environment.machine_checks import (
    check_cgroup,
    check_container,
    check_gpu,
    check_memory,
    check_nvidia,
    check_python,
    check_rlimits,
    check_swap,
)
from outlive.environment.machine_report import Check, State
from outlive.environment.packages import check_packages
from outlive.environment.trials import Trials, run_trials, try_cgroup, try_sandbox
from outlive.meter import read_machine, read_ptrace_scope, read_rlimit, read_shared_memory
from outlive.meter.gpu import find_gpus
from outlive.units import format_bytes

ISOLATION = "isolation"
_RLIMITS = ("AS", "DATA", "NPROC", "NOFILE", "CORE")
# Docker's default; PyTorch users know it from "bus error".
_SMALL_SHM = 64 << 20


def survey(root: Path = Path("/")) -> tuple[Check, ...]:
    """Every check, in the order a person would ask."""
    machine = read_machine(root)
    return (
        *check_packages(),
        *check_python(sys.version_info[:3], platform.system(), platform.machine()),
        check_container(machine),
        check_memory(machine),
        check_swap(machine),
        check_cgroup(machine),
        *check_rlimits({name: read_rlimit(name) for name in _RLIMITS}),
        *check_isolation(run_trials(), read_ptrace_scope(root)),
        check_own_cgroup(try_cgroup()),
        check_sandbox(try_sandbox()),
        check_shared_memory(*read_shared_memory(root)),
        check_faulthandler(importlib.util.find_spec("faulthandler") is not None),
        check_gpu(root),
        check_nvidia(find_gpus()),
    )


def check_own_cgroup(reason: str) -> Check:
    """Whether a worker can be put into a memory cgroup of its own; `reason` says why not."""
    if not reason:
        meaning = "memory limits of models are kept by the kernel, after a watchdog that says where"
        return _row("own cgroup", State.OK, "can be made", meaning)
    meaning = "memory limits are kept by a watchdog alone: what is taken within 10 ms or so may exceed them"
    remedy = "systemd-run --user --scope outlive run model.tflite  # or as root"
    return _row("own cgroup", State.MISSING, reason, meaning, remedy)


def check_sandbox(tried: dict[str, Any]) -> Check:
    """Whether a worker can be kept from files, network and other processes, as one tried it."""
    parts, why, escapes = tried["parts"], tried["why"], tried.get("escapes", [])
    if parts and not why and not escapes:
        meaning = "a model that takes over LiteRT on the CPU reaches no files, network or other processes"
        return _row("sandbox", State.OK, f"a process came under {parts}", meaning)
    found = "; ".join([*filter(None, [parts, why]), *(f"it could {name}" for name in escapes)])
    meaning = "a model that takes over its worker can do what is named here"
    if not parts:
        meaning = "a model that takes over its worker can do what you can do"
    remedy = "use Linux 6.12 or later with landlock in lsm=, in a container that does not filter it"
    return _row("sandbox", State.LIMITED if parts else State.MISSING, found, meaning, remedy)


def check_isolation(trials: Trials, yama: int | None) -> tuple[Check, ...]:
    """What workers could do when they tried; `yama` is the kernel's ptrace_scope, if it has one."""
    if trials.process:
        meaning = "models run in processes of their own: without one, none can be run"
        remedy = "ulimit -u 4096; ulimit -v unlimited"
        return (_row("processes", State.MISSING, trials.process, meaning, remedy, needed=True),)
    rows = (
        ("fork", trials.fork, "a worker starts within milliseconds",
         "each worker is a fresh Python, which starts more slowly", ""),
        ("memfd", trials.memfd, "tensors are shared with workers without being copied",
         "tensors are shared through a temporary file instead", ""),
        ("oom_score_adj", trials.oom_score_adj, "when memory runs out the worker goes, not your program",
         "when memory runs out the system may end your program instead of the worker",
         "outlive run model.tflite --memory 2GB  # a limit below what is free"),
    )  # fmt: skip
    checks = [
        _row(name, State.LIMITED, reason, without, remedy) if reason else _row(name, State.OK, "works", gives)
        for name, reason, gives, without, remedy in rows
    ]
    processes = _row(
        "processes", State.OK, "can be started", "models run apart from your program", needed=True
    )
    return (processes, *checks, check_ptrace(trials.ptrace, yama))


def check_ptrace(reason: str, yama: int | None) -> Check:
    """Whether a dying worker's native frames can be read."""
    scope = "" if yama is None else f", Yama ptrace_scope {yama}"
    if not reason:
        meaning = "a crash is told with the operator that was running"
        return _row("ptrace", State.OK, f"works on our own children{scope}", meaning)
    remedy = "docker run --cap-add SYS_PTRACE ..." if yama in (None, 0, 1) else (
        "sudo sysctl kernel.yama.ptrace_scope=1" if yama == 2 else
        "set kernel.yama.ptrace_scope=1 in /etc/sysctl.d and restart")  # fmt: skip
    meaning = "a crash is told with signal and stage; the operator is found by running again, bit by bit"
    return _row("ptrace", State.MISSING, f"{reason}{scope}", meaning, remedy)


def check_shared_memory(size_bytes: int | None, free_bytes: int | None) -> Check:
    """How much /dev/shm holds; outlive itself does not need it."""
    if size_bytes is None or free_bytes is None:
        meaning = "outlive does without it; joblib and other libraries may not"
        return _row(
            "/dev/shm", State.LIMITED, "not there, or not for us", meaning, "docker run --shm-size 1g ..."
        )
    small = size_bytes <= _SMALL_SHM
    return _row(
        "/dev/shm",
        State.LIMITED if small else State.OK,
        f"{format_bytes(size_bytes)}, {format_bytes(free_bytes)} free",
        "enough for outlive, which does not use it; little for other libraries" if small else "large enough",
        "docker run --shm-size 1g ..." if small else "",
    )


def check_faulthandler(is_there: bool) -> Check:
    """Whether a worker can write its Python stack as it dies."""
    if is_there:
        return _row("faulthandler", State.OK, "there", "a crash is told with the Python line it happened in")
    meaning = "a crash is told without the Python line it happened in"
    return _row("faulthandler", State.MISSING, "not in this Python", meaning, "use CPython")


def _row(
    name: str, state: State, found: str, meaning: str, remedy: str = "", *, needed: bool = False
) -> Check:
    return Check(
        group=ISOLATION, name=name, state=state, found=found, meaning=meaning, remedy=remedy, needed=needed
    )
