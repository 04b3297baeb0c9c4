"""Another process as its watcher sees it: sizes, files, its end; and waiting for what it writes.

Nothing is imported that takes memory: the watcher of a kernel is to be small.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# Linux, include/uapi/linux/pidfd.h (6.15): _IOWR(0xFF, 11, struct pidfd_info of 64 bytes); PIDFD_INFO_EXIT.
_GET_INFO, _INFO_BYTES, _INFO_EXIT, _EXIT_CODE_AT = 0xC040FF0B, 64, 1 << 3, 60

_PR_SET_PTRACER = 0x59616D61  # linux/prctl.h

# By which a watcher asks a kernel to write down where it is: one that neither libraries nor people use.
DUMP_SIGNAL = signal.SIGRTMAX - 3
_MOST_CHILDREN = 64


class ProcessSizes:
    """What a process and those below it hold, read again and again; `find_children` looks which these are."""

    def __init__(self, pid: int, apart: int = 0) -> None:
        """Open what says it; the process `apart` does not count, nor do we."""
        self._pid, self._apart = pid, {apart, os.getpid()}
        self._statm = {pid: _open_statm(pid)}

    def find_children(self) -> None:
        """Look which processes it has started."""
        found = _descendants(self._pid) - self._apart
        for pid in set(self._statm) - found - {self._pid}:
            close(self._statm.pop(pid))
        for pid in found - set(self._statm):
            self._statm[pid] = _open_statm(pid)

    def read(self) -> tuple[int, int] | None:
        """Private and resident bytes; None if it is gone."""
        own = _pages(self._statm[self._pid])
        if own is None:
            return None
        below = [_pages(statm) for pid, statm in self._statm.items() if pid != self._pid]
        pages = [own] + [found for found in below if found is not None]
        private = sum(max(0, resident - shared) for resident, shared in pages)
        return private * _PAGE_BYTES, sum(resident for resident, _ in pages) * _PAGE_BYTES

    def close(self) -> None:
        """Close what was opened."""
        for statm in self._statm.values():
            close(statm)
        self._statm = {self._pid: -1}


def _open_statm(pid: int) -> int:
    try:
        return os.open("/proc/%d/statm" % pid, os.O_RDONLY)
    except OSError:
        return -1


def _pages(statm: int) -> tuple[int, int] | None:
    """Resident and shared pages of a process; None if it is gone."""
    try:
        words = os.pread(statm, 256, 0).split()
    except OSError:
        return None
    return None if len(words) < 3 or words[1] == b"0" else (int(words[1]), int(words[2]))


def _descendants(pid: int) -> set[int]:
    """The processes below one, as far as the system tells, and no more than we care to follow."""
    found: set[int] = set()
    waiting = [pid]
    while waiting and len(found) < _MOST_CHILDREN:
        new = _children(waiting.pop()) - found
        found |= new
        waiting += new
    return found


def _children(pid: int) -> set[int]:
    found: set[int] = set()
    try:
        for thread in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, thread), encoding="ascii") as file:
                found.update(map(int, file.read().split()))
    except (OSError, ValueError):  # it ends just now, or the system does not tell
        pass
    return found


def close(descriptor: int) -> None:
    """Close a descriptor; nothing if it is negative."""
    if descriptor >= 0:
        os.close(descriptor)


def after_fork_in_child(function: Any) -> None:
    """Have a function called in every copy of this process."""
    os.register_at_fork(after_in_child=function)


def limit_memory(most_bytes: int) -> None:
    """Let this process allocate so much and no more; 0 for no limit of ours."""
    if most_bytes:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, hard))


class ReadyDescriptors:
    """Waits for descriptors; the system hears of them again only if others are meant."""

    def __init__(self) -> None:
        """None yet."""
        self._wanted: Any = None
        self._poll = select.poll()

    def wait(self, reading: tuple[int, ...], writing: tuple[int, ...], timeout_s: float) -> set[int]:
        """Those that can be read or written to, after so long at the most; negative numbers are left out."""
        if (reading, writing) != self._wanted:
            self._wanted, self._poll = (reading, writing), select.poll()
            for descriptor in filter(_is_open, reading):
                self._poll.register(descriptor, select.POLLIN)
            for descriptor in filter(_is_open, writing):
                self._poll.register(descriptor, select.POLLOUT)
        return {descriptor for descriptor, _ in self._poll.poll(1000 * timeout_s)}


def _is_open(descriptor: int) -> bool:
    return descriptor >= 0


def yama_scope() -> int:
    """Whom the system lets trace: 1 is for parents, and whom a process allows itself."""
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope", encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return 0


def allow_tracer(tracer: int) -> None:
    """Let a process trace this one, where the system does not let everybody of the same user."""
    if tracer and yama_scope() == 1:
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_ulong(tracer), 0, 0, 0)


def signal_first_thread(pid: int, number: int) -> None:
    """Send a signal to a process's first thread, or to the process, where threads cannot be chosen.

    The system gives what is for the process to another thread while a tracer has the first one stopped; a
    stack dump that walks the frames of a thread at work may crash.
    """
    import ctypes

    send = getattr(ctypes.CDLL(None), "tgkill", None)  # glibc 2.30, bionic
    if send is None or send(pid, pid, number):
        os.kill(pid, number)


def set_nonblocking(descriptor: int) -> None:
    """Let reads that would wait raise `BlockingIOError`."""
    os.set_blocking(descriptor, False)


def lock(file: Any) -> None:
    """Hold a file for as long as this process lives; OSError if another has it."""
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def open_descriptor_of(pid: int, descriptor: int) -> int:
    """What another process has open, opened for writing at its end; -1 if that cannot be."""
    try:
        flags = os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK
        return os.open("/proc/%d/fd/%d" % (pid, descriptor), flags)
    except OSError:
        return -1


def exit_status(pid: int, pidfd: int) -> int | None:
    """The raw wait status of a process that has ended and is not our child; None if it is not known.

    Until its parent has asked for it, a dead process is still in the process table, status and all; after
    that, newer systems tell the holder of a descriptor of it.
    """
    status = _status_in_table(pid)
    if status is None and pidfd >= 0:
        status = _status_of_descriptor(pidfd)
    return status


def _status_in_table(pid: int) -> int | None:
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as file:
            words = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    # After the name: the state is field 0, the exit code field 49 (proc(5)).
    return int(words[49]) if len(words) > 49 and words[0] in "ZX" else None


def _status_of_descriptor(pidfd: int) -> int | None:
    info = bytearray(_INFO_BYTES)
    struct.pack_into("<Q", info, 0, _INFO_EXIT)
    try:
        fcntl.ioctl(pidfd, _GET_INFO, info)
    except OSError:
        return None
    known: int = struct.unpack_from("<Q", info)[0]
    status: int = struct.unpack_from("<i", info, _EXIT_CODE_AT)[0]
    return status if known & _INFO_EXIT else None
