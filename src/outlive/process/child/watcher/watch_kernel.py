"""The recorder: a small process that watches a kernel, and writes down its end if it was not a normal one.

    python -I -S -c PROGRAM PATH KERNEL PIDFD TEE PASS_ON TRACER FOLDER OOM_COUNTER

It is a child of the kernel in a session of its own, so that what is sent to the kernel's group passes it by.
It ends when the kernel does. While a cell runs it looks twenty times a second, otherwise four times.
"""

from __future__ import annotations

import os
import time

from ..operating_system import watched_process
from . import death_record, notes_file
from .observation import StderrTee, WatchedKernel

_BUSY_S, _IDLE_S = 0.05, 0.25
# The timeline also goes to disk now and then: a kill may take the recorder along.
_SAVE_EVERY_S = 5.0
# How long what was printed last may take on its way to where it went before.
_FAREWELL_S = 0.5


class Watcher:
    """Watches one kernel, which has started us."""

    def __init__(self, kernel: WatchedKernel, pidfd: int) -> None:
        """Begin with what the kernel has prepared."""
        self._kernel, self._pidfd = kernel, pidfd
        self._fault_fd = -1
        self._cell_ns = -1
        self._ready = watched_process.ReadyDescriptors()
        self._saved_s = self._counted_s = self._looked_s = time.monotonic()

    def watch(self) -> None:
        """Look until the kernel is gone, then write down how it ended."""
        while not self._wait():
            self._look()
        status = self._status()
        self._notice_cell()
        self._kernel.tee.drain()
        self._write_end(status)
        self._farewell()

    def _is_gone(self) -> bool:
        """Whether the kernel has ended, where the system has no descriptors of processes."""
        return os.getppid() != self._kernel.pid

    def _status(self) -> int | None:
        return watched_process.exit_status(self._kernel.pid, self._pidfd)

    def _write_end(self, status: int | None) -> None:
        death_record.write_end(self._kernel, status)

    def _wait(self) -> bool:
        """Wait for the kernel's end, for something to pass on or for the next look; whether it has ended."""
        tee = self._kernel.tee
        reading, writing = tee.wants()
        seconds = _BUSY_S if self._kernel.busy else _IDLE_S
        ready = self._ready.wait((self._pidfd, reading), (writing,), seconds)
        if self._pidfd in ready or self._is_gone():
            return True
        if tee.source in ready:
            tee.read()
        if tee.target in ready:
            tee.write()
        return False

    def _notice_cell(self) -> None:
        if self._kernel.began_ns != self._cell_ns:
            self._cell_ns = self._kernel.began_ns
            self._kernel.memory.begin()

    def _look(self) -> None:
        now_s = time.monotonic()
        if now_s - self._looked_s < _BUSY_S:  # woken by something to pass on
            return
        self._looked_s = now_s
        self._notice_cell()
        self._kernel.memory.look(time.time())
        if now_s - self._counted_s >= _IDLE_S:
            self._counted_s = now_s
            self._look_around()
        if now_s - self._saved_s >= _SAVE_EVERY_S and self._kernel.busy:
            self._saved_s = now_s
            death_record.save_timeline(self._kernel)

    def _look_around(self) -> None:
        """What changes more slowly than memory."""
        self._kernel.kills.look()
        self._kernel.memory.sizes.find_children()
        self._follow_fault_file()

    def _follow_fault_file(self) -> None:
        """Open the file to which the user wants fault traces to go, while the kernel still has it."""
        wanted = notes_file.get_word(self._kernel.notes, notes_file.FAULT_FD)
        if wanted == self._fault_fd:
            return
        self._fault_fd = wanted
        opened = watched_process.open_descriptor_of(self._kernel.pid, wanted) if wanted > 0 else -1
        self._kernel.fault_copy = opened

    def _farewell(self) -> None:
        """Pass on what is left, if it is read."""
        tee, end_s = self._kernel.tee, time.monotonic() + _FAREWELL_S
        while tee.wants()[1] >= 0 and time.monotonic() < end_s:
            if self._ready.wait((), (tee.target,), _FAREWELL_S):
                tee.write()


def main(words: list[str]) -> None:
    """Watch the kernel that started us."""
    kernel, pidfd, tee, pass_on, tracer = map(int, words[:5])
    folder, oom_counter = words[5:]
    os.umask(0o077)
    Watcher(WatchedKernel(kernel, folder, oom_counter, StderrTee(tee, pass_on), tracer), pidfd).watch()
