"""What this machine offers: one `Check` per thing, found by looking and by trying, never by importing.

What the machine has and allows: Python, memory, cgroups, resource limits, accelerators.
"""

import importlib.util
import os
import platform
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from outlive.environment.machine_report import Check, State
from outlive.environment.packages import check_packages
from outlive.environment.trials import Trials, run_trials, try_cgroup, try_sandbox
from outlive.meter import (
    FACT_SOURCES,
    MachineMemory,
    read_machine,
    read_ptrace_scope,
    read_rlimit,
    read_shared_memory,
)
from outlive.meter.gpu import Gpus, find_gpus
from outlive.units import format_bytes

MACHINE, MEMORY, LIMITS, ACCELERATORS = "machine", "memory", "resource limits", "accelerators"

_OLDEST_PYTHON = (3, 10)
# A worker is a process with a few threads, and a parent holds a handful of descriptors for each.
_FEW_PROCESSES = 64
_FEW_FILES = 128
# What the runtime's libraries and their threads' stacks reserve without using it, generously.
_ADDRESS_SPACE = 4 << 30
_SMALL_DATA = 1 << 30

_GPU_DEVICES = ("dev/dri/renderD*", "dev/nvidia[0-9]*", "dev/kfd", "dev/mali*", "dev/kgsl-3d0", "dev/dxg")
_VULKAN_LIBRARIES = ("usr/lib/*/libvulkan.so.1", "usr/lib64/libvulkan.so.1", "usr/lib/libvulkan.so.1")
_VULKAN_DRIVERS = ("usr/share/vulkan/icd.d/*.json", "etc/vulkan/icd.d/*.json")
# Chromium brings a Vulkan driver that needs no GPU; LiteRT's GPU path runs on it.
_SWIFTSHADER = ("usr/lib/chromium/vk_swiftshader_icd.json",)


def check_python(version: tuple[int, ...], system: str, architecture: str) -> tuple[Check, Check]:
    """Python, and the kind of machine."""
    words = ".".join(map(str, version[:3]))
    new_enough = version[:2] >= _OLDEST_PYTHON
    python = Check(
        group=MACHINE,
        name="Python",
        state=State.OK if new_enough else State.MISSING,
        found=words,
        meaning="new enough" if new_enough else "outlive needs Python 3.10 or later",
        remedy="" if new_enough else "python3.12 -m venv .venv && .venv/bin/pip install outlive",
        needed=True,
    )
    full = system == "Linux" and architecture in {"x86_64", "aarch64"}
    if full:
        meaning = "all features of outlive work on this platform"
    elif system == "Linux":
        meaning = "crash reports name the signal and the stage; the operator only on 64-bit x86 and Arm"
    else:
        meaning = "each worker is a new Python process; out-of-memory kills and operators are not seen"
    kind = Check(
        group=MACHINE,
        name="system",
        state=State.OK if full else State.LIMITED,
        found=f"{system} {architecture}",
        meaning=meaning,
    )
    return python, kind


def check_memory(machine: MachineMemory) -> Check:
    """How much memory models may use, and what sets that limit."""
    usable, by = machine.usable_bytes(), machine.limited_by()
    if usable is None:
        found, meaning = "not known", "no default limit is set: give one with --memory"
        return Check(group=MEMORY, name="memory", state=State.LIMITED, found=found, meaning=meaning)
    free = (
        "" if machine.available_bytes is None else f", {format_bytes(machine.available_bytes)} available now"
    )
    if by == "RAM":
        found, meaning = f"{format_bytes(usable)}{free}", "models can use all memory of this machine"
        return Check(group=MEMORY, name="memory", state=State.OK, found=found, meaning=meaning)
    total = machine.total_bytes
    of_all = "" if total is None else f" of {format_bytes(total)}"
    remedies = {
        "cgroup": "docker run --memory 8g ...  # or the container's or the service's own setting",
        "RLIMIT_AS": "ulimit -v unlimited",
        "RLIMIT_DATA": "ulimit -d unlimited",
    }
    return Check(
        group=MEMORY,
        name="memory",
        state=State.LIMITED,
        found=f"{format_bytes(usable)}{of_all}, by {by}",
        meaning="the limit applies, although the machine has more memory",
        remedy=remedies[by],
    )


def check_swap(machine: MachineMemory) -> Check:
    """Whether memory that runs out makes things slow before it kills."""
    size = machine.swap_total_bytes
    found = "not known" if size is None else format_bytes(size) if size else "none"
    meaning = "not counted as memory for models: swapping makes a model very slow"
    if size == 0:
        meaning = "a model that is too large is killed at once, without slowing down first"
    return Check(group=MEMORY, name="swap", state=State.OK, found=found, meaning=meaning)


def check_cgroup(machine: MachineMemory) -> Check:
    """Whether the kernel counts out-of-memory kills where we can read them."""
    if not machine.cgroup_version:
        return Check(
            group=MEMORY,
            name="cgroup",
            state=State.MISSING,
            found="no cgroup controls memory",
            meaning="only the machine's counter and the peak reveal an out-of-memory kill",
            remedy="sudo mount -t cgroup2 none /sys/fs/cgroup  # unless the system uses version 1",
        )
    limit, used = machine.cgroup_limit_bytes, machine.cgroup_used_bytes
    words = [f"version {machine.cgroup_version}"]
    words += ["no limit" if limit is None else f"limit {format_bytes(limit)}"]
    words += [] if used is None else [f"{format_bytes(used)} used"]
    if machine.cgroup_high_bytes is not None:
        words.append(f"slowed down from {format_bytes(machine.cgroup_high_bytes)} on")
    return Check(
        group=MEMORY,
        name="cgroup",
        state=State.OK if machine.cgroup_high_bytes is None else State.LIMITED,
        found=", ".join(words),
        meaning="out-of-memory kills are counted, and distinguished from other kills",
    )


def check_container(machine: MachineMemory) -> Check:
    """Whether this is a container."""
    inside = machine.container
    meaning = "outlive reads and applies the limits of the container" if inside else "no sign of a container"
    return Check(group=MACHINE, name="container", state=State.OK, found=inside or "no", meaning=meaning)


def check_rlimit(name: str, limit: int | None, few: int, meaning: str, remedy: str) -> Check:
    """A resource limit: fine unless it is set below `few`."""
    is_size = name in {"AS", "DATA", "CORE"}
    found = "unlimited" if limit is None else format_bytes(limit) if is_size else f"{limit:,}"
    low = limit is not None and limit < few
    return Check(
        group=LIMITS,
        name=f"RLIMIT_{name}",
        state=State.LIMITED if low else State.OK,
        found=found,
        meaning=meaning if low else "high enough",
        remedy=remedy if low else "",
    )


def check_rlimits(limits: dict[str, int | None]) -> Iterable[Check]:
    """The resource limits that matter to workers, given by name; None is unlimited."""
    rows = (
        ("AS", _ADDRESS_SPACE, "runtimes may fail to load: libraries reserve much more memory than they use",
         "ulimit -v unlimited"),
        ("DATA", _SMALL_DATA, "models that need more memory fail during a run", "ulimit -d unlimited"),
        ("NPROC", _FEW_PROCESSES, "workers or their threads may fail to start", "ulimit -u 4096"),
        ("NOFILE", _FEW_FILES, "only a few interpreters can be open at once", "ulimit -n 4096"),
    )  # fmt: skip
    yield from (check_rlimit(name, limits.get(name), few, why, do) for name, few, why, do in rows)
    core = limits.get("CORE")
    found = "unlimited" if core is None else format_bytes(core)
    meaning = "a crash writes no core file"
    if core != 0:
        meaning = "a crash could write a core file as large as the process; workers switch that off"
    yield Check(group=LIMITS, name="RLIMIT_CORE", state=State.OK, found=found, meaning=meaning)


def check_gpu(root: Path) -> Check:
    """Whether LiteRT's GPU path has something to run on: a device, or Vulkan in software."""
    devices = _glob(root, _GPU_DEVICES)
    drivers = _glob(root, _VULKAN_DRIVERS)
    named = [path for path in _named_drivers() if os.path.exists(root / path.lstrip("/"))]
    software = _glob(root, _SWIFTSHADER)
    has_vulkan = bool(_glob(root, _VULKAN_LIBRARIES))
    if devices and has_vulkan and (drivers or named):
        state, found = State.OK, f"{', '.join(devices[:3])}, with Vulkan"
        meaning, remedy = "models can run on the GPU", ""
    elif has_vulkan and (named or software):
        state, found = State.LIMITED, f"Vulkan in software: {(named or software)[0]}"
        meaning = "models can run on the GPU path; the times do not apply to a real GPU"
        remedy = "" if named else f"export VK_ICD_FILENAMES={software[0]}"
    elif devices:
        state, found = State.LIMITED, f"{', '.join(devices[:3])}, but no Vulkan"
        meaning, remedy = (
            "the GPU cannot be used through Vulkan",
            "sudo apt install libvulkan1 mesa-vulkan-drivers",
        )
    else:
        state, found = State.MISSING, "no GPU and no software Vulkan"
        meaning = "outlive predicts by rules which operators a GPU takes"
        remedy = "sudo apt install libvulkan1 chromium  # brings SwiftShader, Vulkan in software"
    return Check(group=ACCELERATORS, name="GPU", state=state, found=found, meaning=meaning, remedy=remedy)


def check_nvidia(gpus: Gpus | None) -> Check:
    """Whether NVIDIA's driver tells how much memory of its GPUs is in use."""
    if gpus is None:
        state, found = State.MISSING, "no NVIDIA driver answers"
        meaning = "timelines do not show GPU memory; no other feature is affected"
    else:
        names = ", ".join(f"{gpu.name} ({format_bytes(gpu.total_bytes)})" for gpu in gpus.devices[:4])
        state, found = State.OK, f"{names}, driver {gpus.driver or 'unknown'}"
        meaning = "timelines of guarded functions show GPU memory; TensorFlow allocates it as needed"
    return Check(group=ACCELERATORS, name="NVML", state=state, found=found, meaning=meaning)


def _named_drivers() -> list[str]:
    """Drivers that the environment names."""
    text = os.environ.get("VK_DRIVER_FILES") or os.environ.get("VK_ICD_FILENAMES") or ""
    return [path for path in text.split(os.pathsep) if path]


def _glob(root: Path, patterns: Iterable[str]) -> list[str]:
    """Matching files as the user knows them; what may not be listed is not there for us either."""
    found = []
    for pattern in patterns:
        try:
            found += sorted(f"/{path.relative_to(root).as_posix()}" for path in root.glob(pattern))
        except OSError:
            continue
    return found


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
        meaning = "a watchdog enforces memory limits and names the place; the kernel enforces them too"
        return _row("own cgroup", State.OK, "can be made", meaning)
    meaning = "only a watchdog enforces memory limits: within about 10 ms a model can exceed them"
    remedy = "systemd-run --user --scope outlive run model.tflite  # or as root"
    return _row("own cgroup", State.MISSING, reason, meaning, remedy)


def check_sandbox(tried: dict[str, Any]) -> Check:
    """Whether a worker can be kept from files, network and other processes, as one tried it."""
    parts, why, escapes = tried["parts"], tried["why"], tried.get("escapes", [])
    if parts and not why and not escapes:
        meaning = "a model that exploits LiteRT on the CPU cannot reach files, the network or other processes"
        return _row("sandbox", State.OK, f"active: {parts}", meaning)
    found = "; ".join([*filter(None, [parts, why]), *(f"it could {name}" for name in escapes)])
    meaning = "a model that exploits its worker can do this"
    if not parts:
        meaning = "a model that exploits its worker has your permissions"
    remedy = "use Linux 6.12 or later with landlock in lsm=, in a container that does not filter it"
    return _row("sandbox", State.LIMITED if parts else State.MISSING, found, meaning, remedy)


def check_isolation(trials: Trials, yama: int | None) -> tuple[Check, ...]:
    """What workers could do when they tried; `yama` is the kernel's ptrace_scope, if it has one."""
    if trials.process:
        meaning = "models run in separate processes: without them, no model can run"
        remedy = "ulimit -u 4096; ulimit -v unlimited"
        return (_row("processes", State.MISSING, trials.process, meaning, remedy, needed=True),)
    rows = (
        ("fork", trials.fork, "a worker starts within milliseconds",
         "each worker is a new Python process, which starts more slowly", ""),
        ("memfd", trials.memfd, "tensors are shared with workers without copies",
         "tensors are shared through a temporary file instead", ""),
        ("oom_score_adj", trials.oom_score_adj, "if memory runs out, the worker is killed, not your program",
         "when memory runs out, the system may kill your program instead of the worker",
         "outlive run model.tflite --memory 2GB  # a limit below what is free"),
    )  # fmt: skip
    checks = [
        _row(name, State.LIMITED, reason, without, remedy) if reason else _row(name, State.OK, "works", gives)
        for name, reason, gives, without, remedy in rows
    ]
    processes = _row("processes", State.OK, "can be started", "models run outside your program", needed=True)
    return (processes, *checks, check_ptrace(trials.ptrace, yama))


def check_ptrace(reason: str, yama: int | None) -> Check:
    """Whether a dying worker's native frames can be read."""
    scope = "" if yama is None else f", Yama ptrace_scope {yama}"
    if not reason:
        meaning = "crash reports name the running operator"
        return _row("ptrace", State.OK, f"works on child processes{scope}", meaning)
    remedy = "docker run --cap-add SYS_PTRACE ..." if yama in (None, 0, 1) else (
        "sudo sysctl kernel.yama.ptrace_scope=1" if yama == 2 else
        "set kernel.yama.ptrace_scope=1 in /etc/sysctl.d and restart")  # fmt: skip
    meaning = "crash reports name signal and stage; diagnose finds the operator by running parts of the model"
    return _row("ptrace", State.MISSING, f"{reason}{scope}", meaning, remedy)


def check_shared_memory(size_bytes: int | None, free_bytes: int | None) -> Check:
    """How much /dev/shm holds; outlive itself does not need it."""
    name = FACT_SOURCES["shared_memory"]
    if size_bytes is None or free_bytes is None:
        meaning = "outlive does not need it; joblib and other libraries may"
        return _row(
            name, State.LIMITED, "missing, or not accessible", meaning, "docker run --shm-size 1g ..."
        )
    small = size_bytes <= _SMALL_SHM
    return _row(
        name,
        State.LIMITED if small else State.OK,
        f"{format_bytes(size_bytes)}, {format_bytes(free_bytes)} free",
        "enough for outlive, which does not use it; little for other libraries" if small else "large enough",
        "docker run --shm-size 1g ..." if small else "",
    )


def check_faulthandler(is_there: bool) -> Check:
    """Whether a worker can write its Python stack as it dies."""
    if is_there:
        return _row("faulthandler", State.OK, "there", "crash reports name the Python line")
    meaning = "crash reports do not name the Python line"
    return _row("faulthandler", State.MISSING, "not in this Python", meaning, "use CPython")


def _row(
    name: str, state: State, found: str, meaning: str, remedy: str = "", *, needed: bool = False
) -> Check:
    return Check(
        group=ISOLATION, name=name, state=state, found=found, meaning=meaning, remedy=remedy, needed=needed
    )
