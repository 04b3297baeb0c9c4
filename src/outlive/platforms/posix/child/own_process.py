"""What a worker does to itself before it touches a model: limits, a name, an end tied to its parent's."""

from __future__ import annotations

import ctypes
import mmap
import os
import select
import signal
import sys
import time
from typing import Any, Callable

_PR_SET_PDEATHSIG, _PR_SET_NAME, _PR_SET_CHILD_SUBREAPER = 1, 15, 36  # linux/prctl.h
# What threads of LiteRT have on Android (bionic, libc/bionic/pthread_internal.h: PTHREAD_STACK_SIZE_DEFAULT).
SMALL_STACK_BYTES = 1 << 20
_USUAL_STACK_BYTES = 8 << 20
# So many threads can be on their way at once before their tracer makes room for the next (`StackRoom`); of a
# model there are as many besides as it was given, in XNNPACK's pool and in that of the other kernels.
STACKS_AHEAD = 4
# RLIMIT_DATA counts what is reserved, used or not; `memory_watchdog` watches what is used. Ruy
# reserves its next room while it still has the pieces that did not fit the last (ruy/allocator.cc).
RESERVED_PER_USED = 2
_UNBUFFERED = 2  # stdio.h of glibc and macOS: _IONBF
_MAP_FAILED = ctypes.c_void_p(-1).value
_ATTRIBUTES_BYTES = 128  # more than sizeof(pthread_attr_t) anywhere (glibc, bits/pthreadtypes-arch.h)

# The C library, for what Python does not pass on.
libc = ctypes.CDLL(None, use_errno=True)
yield_core: Any = getattr(os, "sched_yield", None)
# Bytes of a file from an offset on.
read_at = os.pread


def check(result: int) -> int:
    """The result of a system call; OSError if it is one."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def map_pages(address: int | None, size: int, flags: int, descriptor: int = -1, offset: int = 0) -> int:
    """Map pages that can be read and written; where they lie. OSError if the system refuses."""
    function = libc.mmap
    function.restype = ctypes.c_void_p
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
    found = function(address, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, descriptor, offset)
    if found == _MAP_FAILED:
        check(-1)
    return int(found)


def _prctl(option: int, argument: Any) -> None:
    if sys.platform == "linux":
        libc.prctl(option, argument, 0, 0, 0)


def name_process(name: str) -> None:
    """Give the process a name that `ps` and `top` show."""
    _prctl(_PR_SET_NAME, ctypes.c_char_p(name.encode()[:15]))


def die_with(parent: int) -> None:
    """End when the process that forked this one ends, however it ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)  # it was gone before we asked


def wake_with(parent: int, channel: int) -> None:
    """Go on when the parent ends, also if this process was stopped: there is something to clean up then.

    Until here the end of the channel did that (`spawning.start_in_session`). Its messages do it no more: a
    parent that gets no answer is to see that we are stopped.
    """
    _prctl(_PR_SET_PDEATHSIG, signal.SIGCONT)
    import fcntl

    fcntl.fcntl(channel, fcntl.F_SETFL, fcntl.fcntl(channel, fcntl.F_GETFL) & ~os.O_ASYNC)
    if os.getppid() != parent:
        os._exit(0)  # it was gone before we asked


def adopt_orphans() -> None:
    """Become the parent of what processes below this one leave behind, in place of the system's first one.

    A worker adopts what its own children leave, and its nursery what the worker leaves: so when a worker has
    ended, all that it had started stands below the nursery, and nothing else does.
    """
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def children() -> list[int]:
    """The processes whose parent this process (of one thread) is."""
    own = os.getpid()
    try:
        with open("/proc/self/task/%d/children" % own) as file:
            return [int(word) for word in file.read().split()]
    except (OSError, ValueError):  # a kernel without CONFIG_PROC_CHILDREN
        return [process for process in _all_processes() if _parent_of(process) == own]


def _all_processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _parent_of(process: int) -> int:
    fields = _stat("/proc/%d/stat" % process)
    return int(fields[1]) if len(fields) > 1 else 0


def is_at_work(process: int) -> bool:
    """True if a thread of it runs, or would if it had a core or what it reads from a disk."""
    folder = "/proc/%d/task" % process
    try:
        threads = os.listdir(folder)
    except OSError:
        return False
    return any(_stat("%s/%s/stat" % (folder, thread))[:1] in (["R"], ["D"]) for thread in threads)


def core_seconds(process: int) -> float:
    """How long it has had a core, with all its threads; 0 if it is gone."""
    fields = _stat("/proc/%d/stat" % process)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if len(fields) > 12 else 0.0


def _stat(path: str) -> list[str]:
    """The fields of a `stat` after the name, which may hold anything; none once it is gone."""
    try:
        with open(path, errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []


def raise_descriptor_limit() -> tuple[int, int] | None:
    """Let this process open as many files as it may; what the limits were, None where there are none."""
    try:
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (ImportError, OSError, ValueError):
        return None
    return soft, hard


def restore_descriptor_limit(limits: tuple[int, int] | None) -> None:
    """Put back what `raise_descriptor_limit` found: a worker has the limits of the user's program."""
    if limits is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def this_core() -> int:
    """The core that this thread runs on; -1 where the system does not say."""
    here = getattr(libc, "sched_getcpu", None)
    return -1 if here is None else int(here())


def start_elsewhere(process: int) -> None:
    """Let a child that was just forked begin at once, on another core than this one.

    As often as not the system queues it behind us on our own core, and it begins only when we sleep again.
    """
    _move_off(process, this_core())


def leave_core(core: int) -> None:
    """Go to another core if this thread runs on that one."""
    if core == this_core():
        _move_off(0, core)


def _move_off(process: int, core: int) -> None:
    """Keep a process off a core for a moment; where it runs after that is the system's business again."""
    try:
        allowed = os.sched_getaffinity(process)
        others = allowed - {core}
        if others and others != allowed:
            os.sched_setaffinity(process, others)
            os.sched_setaffinity(process, allowed)
    except (AttributeError, OSError):
        pass  # it is gone already, or we may not, or no system that has cores to choose


def follow(parent: int, channel: int) -> None:
    """End when the parent ends, by a thread that watches: a death signal would follow the parent's thread."""
    import threading

    wake_with(parent, channel)

    def watch() -> None:
        descriptor = open_process(parent)
        if descriptor is not None:
            select.select([descriptor], [], [])
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def be_plain() -> None:
    """Undo what a parent may have handed down: blocked signals, and warnings that are errors."""
    import warnings

    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
    warnings.simplefilter("ignore")


def prepare() -> None:
    """Import what `limit` needs, so that a fork has it."""
    try:
        import resource  # noqa: F401
    except ImportError:
        pass


def make_stacks_small() -> None:
    """Let threads that do not say otherwise have small stacks; the first thread's stack stays as it is.

    RLIMIT_STACK gives each 8 MiB of address space, which limits on address space and data count in full.
    """
    set_default = getattr(libc, "pthread_setattr_default_np", None)
    if set_default is None:  # not the GNU C library
        return
    attributes = ctypes.create_string_buffer(_ATTRIBUTES_BYTES)
    if not libc.pthread_attr_init(attributes):
        libc.pthread_attr_setstacksize(attributes, ctypes.c_size_t(SMALL_STACK_BYTES))
        set_default(attributes)
        libc.pthread_attr_destroy(attributes)


def stack_bytes() -> int:
    """The stack of a thread of a program that does not say how large (glibc, nptl/pthread_create.c)."""
    try:
        import resource

        soft = resource.getrlimit(resource.RLIMIT_STACK)[0]
    except (ImportError, OSError, ValueError):
        return _USUAL_STACK_BYTES
    return _USUAL_STACK_BYTES if soft in (-1, resource.RLIM_INFINITY) else int(soft)


def trim_heap() -> None:
    """Give unused memory back: a worker would fill it first, and what a model takes would look like less."""
    trim = getattr(libc, "malloc_trim", None)
    if trim is not None:
        trim(0)


def unbuffer_native_output() -> None:
    """What native code prints would else wait in a buffer, and be lost with the process."""
    if sys.platform != "linux":
        return
    try:
        stream = ctypes.c_void_p.in_dll(libc, "stdout")
        libc.setvbuf(stream, None, _UNBUFFERED, ctypes.c_size_t(0))
    except (OSError, ValueError, AttributeError):
        pass  # another C library: its buffer is written when it is full


def call_after_fork(function: Callable[[], None]) -> None:
    """Have it called in each process that is forked from this one."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)


def open_process(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends; None where the system has none."""
    opener = getattr(os, "pidfd_open", None)
    if opener is None:
        return None
    try:
        descriptor: int = opener(pid, 0)
    except OSError:
        return None
    return descriptor


def limit(limits: dict[str, Any]) -> dict[str, Any]:
    """Apply the limits; what was applied, and why what was not."""
    applied: dict[str, Any] = {}
    _be_first_to_go(applied)
    try:
        import resource
    except ImportError:
        applied["refused"] = "this system has no resource limits"
        return applied
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        if limits.get("asked_bytes") is not None:
            stacks = SMALL_STACK_BYTES * (STACKS_AHEAD + 2 * int(limits.get("threads") or count_cores()))
            asked = RESERVED_PER_USED * int(limits["asked_bytes"])
            applied["data_bytes"] = _limit_data(resource, asked + stacks)
    except (OSError, ValueError) as error:
        applied["refused"] = str(error)
    return applied


def _limit_data(resource: Any, memory_bytes: int) -> int:
    """Let the process add this much to what it has; the limit as the system counts it."""
    now = data_bytes()
    if not now:
        raise OSError("/proc/self/status does not say how much memory the process has")
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    # A limit that was there before us stays.
    known = [size for size in (soft, hard) if size not in (-1, resource.RLIM_INFINITY)]
    total: int = min([now + memory_bytes, *known])
    resource.setrlimit(resource.RLIMIT_DATA, (total, hard))
    return total


def _be_first_to_go(applied: dict[str, Any]) -> None:
    """If the system runs out of memory, let it take this process and not the notebook."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
        applied["oom_score_adj"] = 1000
    except OSError:
        pass


def memory(elsewhere: int = 0) -> dict[str, int]:
    """This process's own memory: private and resident bytes; empty where they cannot be read.

    Private is all that is anonymous. What was there before the fork is in it, and stays in it when a page is
    written to for the first time, so that the growth is what the model added and nothing else. `elsewhere`
    are bytes of the model that lie in memory shared with the parent, and are the model's all the same.
    """
    if counters_are_exact():
        found = _sizes("/proc/self/status", ("RssAnon", "VmSwap", "VmRSS"))
        private, rss = found.get("RssAnon"), found.get("VmRSS", 0)
        swapped = found.get("VmSwap", 0)
    else:
        found = _sizes("/proc/self/smaps_rollup", ("Rss", "Anonymous", "Swap"))
        private, rss, swapped = found.get("Anonymous"), found.get("Rss", 0), found.get("Swap", 0)
    if private is None:
        return {}
    return {"private_bytes": private + swapped + elsewhere, "rss_bytes": rss}


def own_sizes() -> dict[str, int]:
    """Private and resident bytes, read with as little memory as can be; empty where they cannot be read."""
    try:
        with open("/proc/self/statm") as file:
            _, resident, shared = (int(word) * mmap.PAGESIZE for word in file.read().split()[:3])
    except (OSError, ValueError):
        return {}
    return {"private_bytes": resident - shared, "rss_bytes": resident}


def counters_are_exact() -> bool:
    """False for kernels 6.2 to 6.16, which keep these counters per CPU and do not add them up when asked.

    Linux, f1a7941243c1 ("mm: convert mm's rss stats into percpu_counter") and its fix in 6.17. Walking
    the pages instead is exact everywhere, and takes half a millisecond and more.
    """
    numbers = [int(word) if word.isdigit() else 0 for word in os.uname().release.split(".")[:2]]
    return not (6, 2) <= tuple(numbers) <= (6, 16)


def data_bytes() -> int:
    """What RLIMIT_DATA counts against this process now; 0 if that cannot be read."""
    return _sizes("/proc/self/status", ("VmData",)).get("VmData", 0)


def count_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def count_threads() -> int:
    """How many threads this process has; 1 if the system does not say."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 1


def is_traced() -> bool:
    """True while another process traces this one."""
    return read_fields("/proc/self/status").get("TracerPid", "0") != "0"


def _sizes(path: str, names: tuple[str, ...]) -> dict[str, int]:
    """Lines such as `Rss:   1234 kB` of a file of the kernel, in bytes."""
    found = read_fields(path)
    try:
        return {name: int(found[name].split()[0]) * 1024 for name in names if name in found}
    except (ValueError, IndexError):
        return {}


def read_fields(path: str) -> dict[str, str]:
    """Lines such as `Name:   value` of a file of the kernel; none if it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            rows = [line.partition(":") for line in file]
    except OSError:
        return {}
    return {name: value.strip() for name, _, value in rows}


def until_ms(moment: float) -> int:
    """How long a poll may last until this moment of the monotonic clock; 1 if it has passed."""
    return max(1, int((moment - time.monotonic()) * 1000) + 1)


def input_poll(descriptor: int) -> Any:
    """A poll object that looks whether something can be read."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return poll


def is_writable(piece: Any) -> bool:
    """True if the process may write there: the kernel is asked to put the first byte where it is already.

    A hundred times quicker than looking it up in /proc/self/maps.
    """
    ours, theirs = os.pipe()
    try:
        os.write(theirs, piece[:1])
        os.readv(ours, [piece[:1]])
    except OSError:
        return False
    finally:
        os.close(ours)
        os.close(theirs)
    return True
