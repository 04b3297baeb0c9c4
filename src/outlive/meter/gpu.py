"""What NVIDIA's driver says of the memory of its GPUs: asked through NVML, where a driver is here at all.

    find_gpus() ──> Gpus ── libnvidia-ml.so.1, by ctypes ──> bytes in use on the GPUs, and by each process
    watch_gpu(pid) ──> GpuMeter ──> what a process, and all that it started, holds of them

Nothing is loaded where there is no NVIDIA device. What the driver does not answer is None, never an error.
"""

import ctypes
import functools
import os
import sys
from dataclasses import dataclass
from typing import Any

from outlive.meter.operating_system import has_nvidia_driver, process_group

# Another library that answers as NVML does, for drivers in unusual places.
LIBRARY_VARIABLE = "OUTLIVE_NVML"
_LIBRARY = "nvml.dll" if sys.platform == "win32" else "libnvidia-ml.so.1"
# nvml.h: NVML_SUCCESS, NVML_ERROR_INSUFFICIENT_SIZE, NVML_VALUE_NOT_AVAILABLE, sizes of names.
_SUCCESS, _TOO_SMALL, _NOT_SAID = 0, 7, 2**64 - 1
_NAME_BYTES = 96
_USUAL_PROCESSES, _MOST_PROCESSES = 64, 4096


class _Memory(ctypes.Structure):
    """nvmlMemory_t."""

    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


class _OldProcess(ctypes.Structure):
    """nvmlProcessInfo_v1_t."""

    _fields_ = (("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong))


class _Process(ctypes.Structure):
    """nvmlProcessInfo_v2_t, which is that of version 3 too."""

    _fields_ = (
        ("pid", ctypes.c_uint),
        ("used", ctypes.c_ulonglong),
        ("gpu_instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """A GPU: its name, and the memory it has."""

    name: str
    total_bytes: int


class Gpus:
    """The GPUs that answer, and how much of their memory is in use."""

    def __init__(self, library: ctypes.CDLL, handles: list[ctypes.c_void_p]) -> None:
        """Take over a library that was initialised, and the handles of its devices."""
        self._library, self._handles = library, handles
        self._lists = [
            found for kind in ("Compute", "Graphics") if (found := _process_list(library, kind)) is not None
        ]
        memory = [self._memory(handle) for handle in handles]
        self.devices = tuple(
            Gpu(name=_text(library, "nvmlDeviceGetName", handle), total_bytes=found.total if found else 0)
            for handle, found in zip(handles, memory, strict=True)
        )
        self.driver = _text(library, "nvmlSystemGetDriverVersion")

    def used_bytes(self) -> int | None:
        """What is in use on all GPUs together; None if one of them does not say."""
        found = [self._memory(handle) for handle in self._handles]
        return sum(memory.used for memory in found if memory) if all(found) else None

    def used_by_process(self) -> dict[int, int | None]:
        """What each process holds, by its number as the driver knows it; None where it does not say how much.

        In a container the driver may number processes as the machine does, or name none.
        """
        held: dict[int, int | None] = {}
        for handle in self._handles:
            for pid, used in self._on_device(handle).items():
                before = held.get(pid, 0)
                held[pid] = None if before is None or used == _NOT_SAID else before + used
        return held

    def _on_device(self, handle: ctypes.c_void_p) -> dict[int, int]:
        """By process; one that computes and draws is listed twice with the same memory."""
        return {
            process.pid: process.used
            for function, kind in self._lists
            for process in _processes(function, kind, handle)
        }

    def _memory(self, handle: ctypes.c_void_p) -> _Memory | None:
        memory = _Memory()
        ended = self._library.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory))
        return memory if ended == _SUCCESS else None


class GpuMeter:
    """The GPU memory of a process and of all that it started, which share its process group.

    Where the driver names processes of ours, it is theirs. Where it names none (containers), it is by how
    much the use of the GPUs has risen since the meter was made, by any process: `counted` says which.
    """

    def __init__(self, gpus: Gpus, leader: int) -> None:
        """Look for the first time."""
        self._gpus, self._leader = gpus, leader
        self._before = gpus.used_bytes()
        self.counted = "process"

    def read(self) -> int | None:
        """The bytes; None if the driver does not say."""
        named = self._gpus.used_by_process()
        groups = {pid: process_group(pid) for pid in named}
        own = [size for pid, size in named.items() if groups[pid] == self._leader]
        said = [size for size in own if size is not None]
        if own and len(said) == len(own):
            self.counted = "process"
            return sum(said)
        if named and not own and None not in groups.values():
            return 0  # the driver numbers processes as we do, and ours are not among them
        used = self._gpus.used_bytes()
        if used is None or self._before is None:
            return None
        self.counted = "machine"
        return max(0, used - self._before)

    def to_json(self) -> dict[str, Any]:
        """The GPUs, and whose memory was counted: the process's or all of the machine's."""
        return {
            "names": [gpu.name for gpu in self._gpus.devices],
            "total_bytes": sum(gpu.total_bytes for gpu in self._gpus.devices),
            "driver": self._gpus.driver,
            "counted": self.counted,
        }


def watch_gpu(leader: int) -> GpuMeter | None:
    """A meter for a process that leads its group; None where no GPU answers."""
    gpus = find_gpus()
    return None if gpus is None else GpuMeter(gpus, leader)


def find_gpus() -> Gpus | None:
    """The NVIDIA GPUs of this machine; None where none answers. It is asked once in a process."""
    return _find(os.getpid(), os.environ.get(LIBRARY_VARIABLE, ""))


@functools.lru_cache(maxsize=1)
def _find(process: int, named: str) -> Gpus | None:
    """A forked process asks again: what was opened before is its parent's."""
    if not named and sys.platform != "win32" and not has_nvidia_driver():
        return None
    try:
        library = ctypes.CDLL(named or _LIBRARY)
        if library.nvmlInit_v2() != _SUCCESS:
            return None
        handles = list(_handles(library))
        return Gpus(library, handles) if handles else None
    except (OSError, AttributeError):  # no library, or one that is not NVML
        return None


def _handles(library: ctypes.CDLL) -> list[ctypes.c_void_p]:
    count = ctypes.c_uint()
    if library.nvmlDeviceGetCount_v2(ctypes.byref(count)) != _SUCCESS:
        return []
    found = []
    for index in range(min(count.value, _USUAL_PROCESSES)):
        handle = ctypes.c_void_p()
        if library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle)) == _SUCCESS:
            found.append(handle)
    return found


def _process_list(library: ctypes.CDLL, kind: str) -> tuple[Any, type[ctypes.Structure]] | None:
    """The newest function that lists processes, with the structure it fills."""
    for version, structure in (("_v3", _Process), ("_v2", _Process), ("", _OldProcess)):
        function = getattr(library, f"nvmlDeviceGet{kind}RunningProcesses{version}", None)
        if function is not None:
            return function, structure
    return None


def _processes(function: Any, kind: type[ctypes.Structure], handle: ctypes.c_void_p) -> list[Any]:
    size = _USUAL_PROCESSES
    while size <= _MOST_PROCESSES:
        count, rows = ctypes.c_uint(size), (kind * size)()
        ended = function(handle, ctypes.byref(count), rows)
        if ended == _SUCCESS:
            return list(rows[: min(count.value, size)])
        if ended != _TOO_SMALL:
            return []
        size = max(2 * size, min(count.value, _MOST_PROCESSES))
    return []


def _text(library: ctypes.CDLL, name: str, *arguments: Any) -> str:
    """What a function writes as text; empty if it writes nothing."""
    written = ctypes.create_string_buffer(_NAME_BYTES)
    if getattr(library, name)(*arguments, written, ctypes.c_uint(_NAME_BYTES)) != _SUCCESS:
        return ""
    return written.value.decode("utf-8", "replace")
