"""The sandbox that a worker enters once its runtime is loaded, and cannot leave again (Linux).

enter(settings) ──> no_new_privs ──> landlock: which files may be read, no TCP, no signal to the outside
                              ──> seccomp:  which system calls are answered (`syscalls` has the tables)
                              ──> RLIMIT_FSIZE: what is printed cannot fill the memory, or a disk

What is refused gets an error and is not ended, so that a runtime that only probes for something goes on.
Landlock needs Linux 5.13, and knows more from version to version; where the kernel has only one of the two,
the worker has that one, and says so.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import platform
import stat
import struct
import sys
from typing import Any, Dict, List, Tuple

from . import syscalls
from .own_process import check, count_threads, libc
from .syscall_filter import for_process, make_filter

# Above what a worker keeps of what was printed (`worker._cut`), and above what one call may well print.
MOST_FILE_BYTES = 16 << 20

_PR_GET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 21, 38  # linux/prctl.h
_SET_MODE_FILTER = 1  # linux/seccomp.h, as the flags: TSYNC, for all threads, and SPEC_ALLOW
# Kernels before 5.16 slow a filtered process down against what it could learn from its own memory by guessing
# (Documentation/admin-guide/hw-vuln/spectre.rst). There is nothing to be hidden from it there.
_FLAGS = 1 | 4
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # asm-generic/unistd.h: landlock_...

# linux/landlock.h: rights on files by the version that brought them, TCP (4) and scopes (6).
_RIGHTS = {1: 0x1FFF, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_ALL_TCP, _ALL_SCOPES = 3, 3
_PATH_BENEATH = 1

# What any worker reads: libraries, its own meters (`own_process`), what glibc and cpuinfo ask.
_OF_SYSTEM = """
/usr/lib /usr/lib64 /usr/local/lib /lib /lib64 /etc/ld.so.cache /etc/ld.so.preload
/proc/cpuinfo /proc/meminfo /proc/stat /proc/sys/vm/overcommit_memory
/sys/devices/system /sys/kernel/mm/transparent_hugepage /dev/null /dev/zero /dev/urandom
"""
_IS_LINUX = sys.platform == "linux"
_RUNTIMES = ("numpy", "ai_edge_litert", "tflite_runtime", "tensorflow")


def prepare() -> None:
    """In the nursery: find out and make what is the same for all workers."""
    landlock_version()
    _usual_places()
    if has_seccomp():
        _filter(True)


def enter(settings: Dict[str, Any], for_model: bool = True) -> Dict[str, str]:
    """Come under all of it that can be had: the parts, and why there are not more of them.

    `read` of the settings are files and folders that may be read, besides those of the system, Python and the
    runtime; `off` is why there is to be no sandbox. A worker that serves a model (and no function of the
    user's) gets the narrower filter.
    """
    if "off" in settings:
        return {"parts": "", "why": settings["off"]}
    parts: List[str] = []
    missing: List[str] = []
    if for_model:
        _limit_files()
    for name, come_under in (("landlock", _come_under_landlock), ("seccomp", _come_under_seccomp)):
        try:
            check(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) if _IS_LINUX else 0)
            parts.append(come_under(settings["read"], for_model))
        except OSError as error:
            missing.append("no %s: %s" % (name, error.strerror or error))
    earlier = count_threads() - 1
    if earlier and parts:
        missing.append("landlock does not hold for %d threads that ran before it" % earlier)
    return {"parts": ", ".join(parts), "why": "; ".join(missing)}


@functools.lru_cache(None)
def landlock_version() -> int:
    """The version of landlock that the kernel has; 0 for none."""
    return 0 if not _IS_LINUX else max(0, _call(_CREATE_RULESET, None, ctypes.c_size_t(0), 1))


@functools.lru_cache(None)
def has_seccomp() -> bool:
    """True if the kernel filters system calls, and we know their numbers on this kind of machine."""
    if not _IS_LINUX or platform.machine() not in syscalls.MACHINES or sys.maxsize < 2**32:
        return False
    return bool(libc.prctl(_PR_GET_SECCOMP, 0, 0, 0, 0) >= 0)


def _limit_files() -> None:
    try:
        import resource

        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        most = MOST_FILE_BYTES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILE_BYTES)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    except (ImportError, OSError, ValueError):
        pass  # a system without such limits


def _come_under_landlock(read: List[str], _: bool) -> str:
    version = landlock_version()
    if not version:
        raise OSError("this system does not have it, or it is switched off")
    files = sum(right for since, right in _RIGHTS.items() if since <= version)
    # linux/landlock.h: struct landlock_ruleset_attr, which has grown.
    size = 8 if version < 4 else 16 if version < 6 else 24
    attributes = struct.pack("<QQQ", files, _ALL_TCP, _ALL_SCOPES)[:size]
    rules = check(_call(_CREATE_RULESET, attributes, ctypes.c_size_t(size), 0))
    try:
        for path in (*_usual_places(), *read):
            _allow_reading(rules, path)
        check(_call(_RESTRICT_SELF, rules, 0))
    finally:
        os.close(rules)
    return "landlock %d" % version


@functools.lru_cache(None)
def _usual_places() -> Tuple[str, ...]:
    """What any worker may read: some of Python, numpy and the runtime is loaded only when it is needed."""
    files = [getattr(sys.modules.get(name), "__file__", None) for name in _RUNTIMES]
    packages = {_package_place(file) for file in files if file}
    ours = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))  # all of outlive
    of_python = {os.path.dirname(os.__file__), os.path.join(sys.base_prefix, "lib")}
    # A process's own folder is another one in each of them; what lies below another place needs no rule.
    known = {os.path.realpath(path) for path in (*_OF_SYSTEM.split(), *of_python, *packages, ours)}
    outer = (path for path in known if not any(path.startswith(other + os.sep) for other in known))
    return ("/proc/self", *outer)


def _package_place(file: str) -> str:
    """Where packages are installed, if this one is; else its own folder, for anything may lie beside it."""
    folder = os.path.dirname(file)
    site = os.path.dirname(folder)
    return site if site.endswith("-packages") else folder


def _allow_reading(rules: int, path: str) -> None:
    """Let a file be read, or all that is below a folder, if it is there.

    Another error is none to pass over: XNNPACK, when it cannot read what the processor is, takes other
    kernels, and results differ in their last bits.
    """
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, PermissionError, ValueError):
        return
    try:
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        rights = _READ_FILE | _READ_DIR if is_folder else _READ_FILE
        # linux/landlock.h: struct landlock_path_beneath_attr, packed.
        added = _call(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("<Qi", rights, descriptor), 0)
        if added < 0 and ctypes.get_errno() != errno.EBADFD:  # a pipe and the like, which have no path
            check(added)
    finally:
        os.close(descriptor)


def _come_under_seccomp(_: List[str], for_model: bool) -> str:
    """With all threads that there are."""
    if not has_seccomp():
        raise OSError("this system does not have it, or its calls on %s are not known" % platform.machine())
    program = for_process(_filter(for_model), os.getpid())
    code = ctypes.create_string_buffer(program, len(program))
    # linux/filter.h: struct sock_fprog, a count and a pointer.
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    check(_call(_SECCOMP[platform.machine()], _SET_MODE_FILTER, _FLAGS, header))
    return "seccomp"


@functools.lru_cache(None)
def _filter(for_model: bool) -> bytes:
    return make_filter(platform.machine(), for_model)


def _call(number: int, *arguments: Any) -> int:
    return int(libc.syscall(ctypes.c_long(number), *arguments))
