"""Watches a kernel from the Jupyter server that starts it, whatever is installed in the kernel's environment.

    prepare ──> folder, pipe, environment ──> the server starts the kernel ──> begin: a `KernelThread`
                 └─ kernel_tracer                  └─ startup/sitecustomize.py, in a Python kernel
    the thread sees memory, kills for memory, standard error, exit status ──> Record, if it was no normal end
    the server tells which cell was asked for, and that the kernel is to stop

The record is the one that a kernel's own recorder writes; where the server watches, the kernel has none.
"""

from __future__ import annotations

import json
import mmap
import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from outlive.kernel_deaths import kernel_tracer, record_store
from outlive.meter import (
    find_memory_cgroup,
    oom_counter_file,
    process_start,
    read_boot_id,
    read_machine,
    watch_activity,
)
from outlive.names import safe
from outlive.process.child.operating_system import watched_process
from outlive.process.child.watcher import death_record, notes_file
from outlive.process.child.watcher.observation import OomKillCount, StderrTee, WatchedKernel
from outlive.process.child.watcher.watch_kernel import Watcher
from outlive.process.operating_system import open_process
from outlive.process.worker_factory import START

_STARTUP = str(Path(START).parent / "watcher" / "startup")
_MOST_REQUESTS, _MOST_SOURCE = 1000, 8000
# A protected kernel may have this share of the memory there is; the rest is for the server and the system.
_SHARE = 0.8
# How often it is seen whether a kernel was moved to another cgroup.
_MOVES_S = 0.5


class ServerWatch:
    """The watch over one kernel process, from before its start to after its end."""

    def __init__(self, about: Mapping[str, Any], on_end: Callable[[str], None]) -> None:
        """Prepare to start a kernel; OSError where no folder or pipe can be made.

        `about` says which kernel it is (`kernel`, `session`, `notebook`, `folder`); `on_end` is called in
        another thread with the name of the record, which is empty after a normal end.
        """
        # Until the kernel is there, its folder is that of the server: `record_store.tidy` leaves it alone.
        self._about = {"pid": os.getpid(), "pid_start": process_start(os.getpid()), **about}
        self._about |= {"boot": read_boot_id(), "started": time.time(), **limits(None)}
        self._on_end = on_end
        self.folder = record_store.open_folder(self._about)
        self._stderr, self._given = os.pipe()
        self._server_stderr = os.dup(2)
        with (self.folder / notes_file.NOTES_FILE).open("r+b") as file:
            self._notes = mmap.mmap(file.fileno(), notes_file.SIZE)
        self._requests: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()
        self._count = 0
        self._watch: KernelThread | None = None
        self.tracer: kernel_tracer.KernelTracer | None = None
        self._is_over = False

    def launch_options(self, environment: Mapping[str, str], *, protect: bool) -> dict[str, Any]:
        """What the kernel's process is to be started with: arguments of Popen."""
        path = environment.get("PYTHONPATH", "")
        words = {
            "OUTLIVE_KERNEL_FOLDER": str(self.folder),
            "OUTLIVE_KERNEL_STDERR": str(self._server_stderr),
            "OUTLIVE_KERNEL_PYTHONPATH": path,
            "PYTHONPATH": os.pathsep.join(filter(None, (_STARTUP, path))),
        }
        self.tracer = kernel_tracer.prepare(self.folder, environment)
        if self.tracer is not None:  # where the system wants it, the kernel has to allow its tracer
            words["OUTLIVE_KERNEL_TRACER"] = str(self.tracer.pid)
        if protect:
            words["OUTLIVE_KERNEL_PROTECT"] = "1"
            limit = self._about.get("memory_bytes")
            if limit:
                words["OUTLIVE_KERNEL_MEMORY"] = str(int(limit * _SHARE))
        return {
            "env": {**environment, **words},
            "stderr": self._given,
            "pass_fds": (self._server_stderr,),
        }

    def begin(self, process: subprocess.Popen[bytes]) -> None:
        """The kernel has started: watch it."""
        self._close_given()
        pid = process.pid
        if self.tracer is not None:
            self.tracer.trace(pid)
        self._about |= {"pid": pid, "pid_start": process_start(pid)}
        self._save_about()
        tee = StderrTee(self._stderr, os.dup(self._server_stderr))
        kernel = WatchedKernel(pid, str(self.folder), oom_counter_file(pid), tee)
        self._stderr = -1
        notes_file.set_word(self._notes, notes_file.BEGAN_NS, time.time_ns())
        self._watch = KernelThread(kernel, process, self)
        threading.Thread(target=self._run, name=f"outlive-kernel-{pid}", daemon=True).start()

    def give_up(self) -> None:
        """The kernel did not start, or cannot be watched: leave nothing behind."""
        if not self._is_over:
            self._is_over = True
            self._close_given()
            if self.tracer is not None:
                self.tracer.stop()
            for descriptor in (self._stderr, self._server_stderr):
                if descriptor >= 0:
                    os.close(descriptor)
            self._stderr = self._server_stderr = -1
            self._notes.close()
            death_record.remove_folder(str(self.folder))

    def cell_requested(self, message: str, source: str, cell: str) -> None:
        """The server has passed on a request to run a cell; it may have to wait for others."""
        with self._lock:
            self._requests[message] = {"source": source[:_MOST_SOURCE], "message": message, "id": cell}
            if len(self._requests) > _MOST_REQUESTS:
                del self._requests[next(iter(self._requests))]
            if len(self._requests) == 1:
                self._note_first()

    def cell_ended(self, message: str, number: int | None) -> None:
        """The kernel has answered a request; `number` is the cell's."""
        with self._lock:
            self._count = number or self._count
            if self._requests.pop(message, None) is not None:
                self._note_first()

    def stop_requested(self, *, restart: bool) -> None:
        """The server is about to end the kernel.

        If a cell runs, and the kernel is to start again, it may hang: where it is, and whether it computes,
        is noted, and is a record if the cell never ends. This takes a fifth of a second then.
        """
        with self._lock:
            if self._is_over or self._watch is None or self._watch.hangs or self._watch.has_ended:
                return
            hangs = restart and bool(notes_file.get_word(self._notes, notes_file.BUSY))
            if not hangs:
                notes_file.set_word(self._notes, notes_file.ENDING, notes_file.ASKED)
                return
            number = notes_file.get_word(self._notes, notes_file.DUMP_SIGNAL)
        self._watch.note_hang(number)

    def memory(self) -> dict[str, Any]:
        """What the kernel and its children hold now, and what they may have."""
        watch = self._watch
        used = 0 if watch is None else watch.now_bytes
        return {
            "bytes": used,
            "limit_bytes": self._about.get("memory_bytes"),
            "limit": self._about.get("memory_limit", ""),
            "growing": self._growing(),
        }

    def _growing(self) -> dict[str, Any] | None:
        """The variable that grew most in the last cell that let one grow; None if the kernel notes none."""
        with self._lock:
            noted = None if self._is_over else notes_file.get_text(self._notes).get(notes_file.GROWING)
        if not isinstance(noted, dict):
            return None
        name, number = noted.get("name"), noted.get("number")
        sizes = {key: noted.get(key) for key in ("bytes", "grown_bytes")}
        known = isinstance(name, str) and all(isinstance(one, int) for one in (number, *sizes.values()))
        return {"name": safe(str(name), 80), "number": number, **sizes} if known else None

    def _run(self) -> None:
        assert self._watch is not None
        try:
            self._watch.watch()
        finally:
            name = self._watch.record_name
            with self._lock:
                self._is_over = True
                self._watch.close()
                self._notes.close()
                os.close(self._server_stderr)
            self._on_end(name)

    def running_cell(self) -> dict[str, Any]:
        """The request that ran, by the cell's source where the kernel notes it: some are never answered."""
        noted = notes_file.get_word(self._notes, notes_file.NOTED_BY)
        source = notes_file.get_text(self._notes).get("source")
        with self._lock:
            requests = [one for one in self._requests.values() if not noted or one["source"] == source]
        first = requests[0] if requests else {}
        return {name: first[name] for name in ("message", "id") if name in first}

    def _note_first(self) -> None:
        """Note the cell for a kernel that does not do so itself."""
        if self._is_over or notes_file.get_word(self._notes, notes_file.NOTED_BY):
            return
        first = next(iter(self._requests.values()), None)
        if first is not None:
            number = self._count + 1
            notes_file.put_text(self._notes, json.dumps({**first, "number": number}).encode())
            notes_file.set_word(self._notes, notes_file.BEGAN_NS, time.time_ns())
        notes_file.set_word(self._notes, notes_file.BUSY, len(self._requests))

    def moved(self, pid: int) -> None:
        """The kernel is in another cgroup, with another limit."""
        self._about |= limits(pid)
        self._save_about()

    def _save_about(self) -> None:
        notes_file.write_private(str(self.folder / notes_file.ABOUT_FILE), self._about)

    def _close_given(self) -> None:
        if self._given >= 0:
            os.close(self._given)
        self._given = -1


class KernelThread(Watcher):
    """The watcher of a kernel that is our own child; it lives in a thread."""

    def __init__(self, kernel: WatchedKernel, process: subprocess.Popen[bytes], owner: ServerWatch) -> None:
        super().__init__(kernel, _pidfd(process.pid))
        self._process, self._owner = process, owner
        self._cgroup = self._seen = _cgroup_of(process.pid)
        self._moved_s = time.monotonic()
        self._hang: dict[str, Any] = {}
        self._followed = -1
        self.record_name = ""

    @property
    def now_bytes(self) -> int:
        """What the kernel holds."""
        return self._kernel.memory.now_bytes

    @property
    def hangs(self) -> bool:
        """Whether it was asked to end while a cell ran."""
        return bool(self._hang)

    @property
    def has_ended(self) -> bool:
        """Whether the kernel is dead already: who asks it to end now comes too late."""
        return self._process.poll() is not None

    def note_hang(self, dump_signal: int) -> None:
        """Have the kernel write where it is, and see whether it computes."""
        self._hang = {"restarted": True}
        if dump_signal and not self.has_ended:
            watched_process.signal_first_thread(self._process.pid, dump_signal)
        self._hang = {"restarted": True, "activity": watch_activity(self._process.pid)}

    def close(self) -> None:
        """Let go of everything."""
        self._kernel.close()
        if self._pidfd >= 0:
            os.close(self._pidfd)

    def _is_gone(self) -> bool:
        return self._process.poll() is not None

    def _status(self) -> int | None:
        if self._owner.tracer is not None:
            self._owner.tracer.await_end()  # until then the system does not tell us
        code = self._process.wait()
        return -code if code < 0 else code << 8

    def _write_end(self, status: int | None) -> None:
        # A cell that ended after all, however late, did not hang.
        more = {**(self._hang if self._kernel.busy else {}), "cell": self._owner.running_cell()}
        self.record_name = death_record.write_end(self._kernel, status, more)

    def _wait(self) -> bool:
        self._follow_stderr()  # before anything is passed on
        return super()._wait()

    def _look_around(self) -> None:
        super()._look_around()
        now_s = time.monotonic()
        if now_s - self._moved_s >= _MOVES_S:
            self._moved_s = now_s
            self._follow_cgroup()
        if self._owner.tracer is not None and self._kernel.memory.sizes.read() is None:
            self._owner.tracer.kernel_is_dead()

    def _follow_stderr(self) -> None:
        """Pass standard error on to where ipykernel reads it, once it says where that is."""
        tee, wanted = self._kernel.tee, notes_file.get_word(self._kernel.notes, notes_file.STDERR_FD)
        if wanted <= 0 or self._followed == wanted:
            return
        self._followed = wanted
        target = watched_process.open_descriptor_of(self._kernel.pid, wanted)
        if target < 0:
            return
        tee.forget()  # what a kernel says while it starts is not about a cell
        tee.target, before = target, tee.target
        if before >= 0:
            os.close(before)

    def _follow_cgroup(self) -> None:
        """Count kills where the kernel is now; seen twice, since one that is about to end is in none."""
        cgroup = _cgroup_of(self._kernel.pid)
        moved, self._seen = cgroup == self._seen != self._cgroup, cgroup
        if moved and cgroup is not None:
            self._cgroup = cgroup
            self._kernel.kills = OomKillCount(oom_counter_file(self._kernel.pid))
            self._owner.moved(self._kernel.pid)


def limits(pid: int | None) -> dict[str, Any]:
    """The memory a process may have: the machine's, or its cgroup's."""
    place = find_memory_cgroup(pid)
    sizes = {
        "cgroup_limit_bytes": None if place is None else place.tightest()[1],
        "total_bytes": read_machine().total_bytes,
    }
    known = {name: size for name, size in sizes.items() if size}
    return {
        "memory_bytes": min(known.values(), default=None),
        "memory_limit": min(known, key=known.__getitem__, default=""),
    }


def _pidfd(pid: int) -> int:
    found = open_process(pid)
    return -1 if found is None else found


def _cgroup_of(pid: int) -> Path | None:
    place = find_memory_cgroup(pid)
    return None if place is None else place.path
