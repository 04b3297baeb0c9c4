"""How much memory a process shares that its caller does not have: files in memory, and shared mappings.

Memory that several processes have is private to none, so that a limit of private memory does not see it.
What the caller has too (arguments, results, whatever it shares itself) is not counted.
"""

from __future__ import annotations

import os
import re
from typing import Any, Iterator, NamedTuple

# Files in memory, as /proc names them: of memfd_create, shm_open, shmget, and shared mappings without a file
# (mm/memfd.c, mm/shmem.c, ipc/shm.c).
_IN_MEMORY = ("/memfd:", "/dev/shm/", "/SYSV", "/dev/zero")
# The segments in which arguments and results are exchanged (`guard.segments.new_segment`).
_SEGMENT = "/memfd:outlive-guard"
_BLOCK_BYTES = 512  # sys/stat.h: what st_blocks counts
_LITTLE_BYTES = 1 << 20
_RESIDENT = re.compile(r"^RssShmem:\s+(\d{1,15}) kB", re.M)
# A mapping in /proc/PID/maps and smaps: addresses, device, inode and path; what is resident comes after it.
_MAPPING = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ (\w+:\w+) (\d+) +(/.*)$")
_RESIDENT_PART = re.compile(r"^Rss:\s+(\d{1,15}) kB")


class _Part(NamedTuple):
    """Some shared memory: which (device and inode), what it is called, and how much."""

    which: Any
    path: str
    size: int


def read_shared(process: int, caller: int, room_bytes: int, spared_bytes: int) -> int:
    """What a process shares and its caller does not have; 0 if that is no more than `room_bytes`.

    A result on its way, which the caller does not have yet, is spared up to `spared_bytes`. Nothing is
    counted where the system does not let us look.
    """
    try:
        resident, files = _resident(process), list(_files(process))
        if resident + _total(files) <= max(room_bytes, _LITTLE_BYTES):
            return 0
        known = {part.which for part in (*_mappings(caller), *_files(caller))}
        files = [part for part in files if part.which not in known]
        known.update(part.which for part in files)
        most = _total(part for part in _mappings(process) if part.which not in known)
        if min(resident, most) + _total(files) <= room_bytes:
            return 0
        mapped = [part for part in _resident_mappings(process) if part.which not in known]
    except OSError:
        return 0
    on_the_way = _total(part for part in mapped if part.path.startswith(_SEGMENT))
    return _total(files) + _total(mapped) - min(on_the_way, spared_bytes)


def _total(parts: Any) -> int:
    return sum(part.size for part in parts)


def _resident(process: int) -> int:
    """The pages of shared memory that it has mapped and touched."""
    with open("/proc/%d/status" % process) as file:
        found = _RESIDENT.search(file.read())
    return int(found.group(1)) * 1024 if found else 0


def _files(process: int) -> Iterator[_Part]:
    """Files in memory that it has open, each once, and what they hold."""
    folder, seen = "/proc/%d/fd/" % process, set()
    for name in os.listdir(folder):
        try:
            path = os.readlink(folder + name)
            if not path.startswith(_IN_MEMORY):
                continue
            facts = os.stat(folder + name)
        except OSError:
            continue  # closed meanwhile
        which = "%02x:%02x" % (os.major(facts.st_dev), os.minor(facts.st_dev)), facts.st_ino
        if which not in seen:
            seen.add(which)
            yield _Part(which, path, facts.st_blocks * _BLOCK_BYTES)


def _mappings(process: int) -> Iterator[_Part]:
    """Its mappings of files in memory, and how large they are."""
    with open("/proc/%d/maps" % process, errors="replace") as file:
        for line in file:
            part = _part(line)
            if part is not None:
                yield part


def _resident_mappings(process: int) -> Iterator[_Part]:
    """The same, and how much of each is there; the kernel walks through all pages for it."""
    part = None
    with open("/proc/%d/smaps" % process, errors="replace") as file:
        for line in file:
            found = _RESIDENT_PART.match(line)
            if found is None:
                part = _part(line) if line[0] in "0123456789abcdef" else part
            elif part is not None:
                yield part._replace(size=int(found.group(1)) * 1024)
                part = None


def _part(line: str) -> _Part | None:
    found = _MAPPING.match(line)
    if found is None or not found.group(5).startswith(_IN_MEMORY):
        return None
    first, last, device, inode, path = found.groups()
    return _Part((device, int(inode)), path, int(last, 16) - int(first, 16))
