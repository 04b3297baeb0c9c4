"""The tracer: sees a worker's fatal signal before the worker does, and records what is seen.

    worker's thread stops ──> waitpid in the nursery ──> Tracer.handle ──> registers, stack, op, memory
                                                              └─ lets the thread go on, with its signal

For the nursery, which must be the one that seized, with one thread:

    refused = tracer.seize(process)                 # "", or why there will be no evidence
    while True:
        process, status = os.waitpid(-1, os.WNOHANG | __WALL)      # until it gives 0 or ChildProcessError
        if os.WIFSTOPPED(status):
            the_tracer.handle(process, status)      # always: else the thread stands still for ever
        elif process in workers:                    # any other process number is a thread of a worker
            evidence = the_tracer.evidence(process)

A traced process pays for nothing but signals, new threads and ended threads: each stops it until handled.
"""

from __future__ import annotations

import os
import signal
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional

from . import backtrace, ptrace, tracee

seize = ptrace.seize
# Tells which operator the frames of a thread ran, as fields of evidence; without frames, that none is known.
FindOp = Callable[[Optional[tracee.Tracee], List[backtrace.NamedFrame]], Dict[str, Any]]

_STOPPING = frozenset({signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU})
_FATAL = frozenset(
    {
        signal.SIGSEGV,
        signal.SIGBUS,
        signal.SIGABRT,
        signal.SIGFPE,
        signal.SIGILL,
        signal.SIGSYS,
        signal.SIGTRAP,
    }
)
_SI_KERNEL = 0x80  # asm-generic/siginfo.h: a fault whose address the processor does not tell

# A handler such as faulthandler's writes its report and raises the signal again: that second stop says
# nothing new. A later one is another event: the first was survived.
_RERAISE_S = 2.0
_MAX_FRAMES, _MAX_SYMBOL = 64, 1000
# The first piece of its heap that a thread takes (glibc, malloc/arena.c: new_heap, top_pad) comes on top.
_HEAP_BYTES = 1 << 18


class _StackLimit(NamedTuple):
    """The limit as the process set it itself, the threads it had then, and the limit as we have set it."""

    own: int
    threads: int
    raised: int


class StackRoom:
    """Room for the stacks of threads in RLIMIT_DATA, which counts them whole although they are hardly used.

        thread A: reserves 8 MiB ──clone──> stopped by its tracer ──> RLIMIT_DATA + 8 MiB ──> goes on

    A limit of our own is a few stacks higher than it is meant to be. For each thread that has begun, its
    tracer adds one more, so that the distance stays. A thread that ends makes room for another.
    """

    def __init__(self) -> None:
        """No process is known yet."""
        self._stack_bytes: dict[int, int] = {}
        self._threads: dict[int, int] = {}
        self._known: dict[int, _StackLimit] = {}

    def __len__(self) -> int:
        """How many processes it still knows."""
        return len(self._stack_bytes)

    def expect(self, process: int, stack_bytes: int) -> None:
        """Threads of this process will have stacks of this size."""
        self._stack_bytes[process] = stack_bytes + _HEAP_BYTES

    def forget(self, process: int) -> None:
        """It has ended."""
        self._stack_bytes.pop(process, None)
        self._threads.pop(process, None)
        self._known.pop(process, None)

    def thread_ended(self, process: int) -> None:
        """Its stack may be another's."""
        if process in self._threads:
            self._threads[process] -= 1

    def thread_began(self, process: int) -> None:
        """Raise the limit for the stack of the next one; one that is not ours, and infinity, stay."""
        size = self._stack_bytes.get(process)
        if size is None:
            return
        before = self._threads.get(process, 0)
        self._threads[process] = before + 1
        import resource

        try:
            soft, hard = resource.prlimit(process, resource.RLIMIT_DATA)
            if soft in (-1, resource.RLIM_INFINITY):
                return
            known = self._known.get(process)
            if known is None or soft != known.raised:
                known = _StackLimit(soft, before, soft)
            wanted = known.own + max(0, before + 1 - known.threads) * size
            if wanted > soft:
                _raise(resource, process, wanted, hard)
            self._known[process] = known._replace(raised=max(wanted, soft))
        except (OSError, ValueError):
            pass  # it is gone, or the system does not let us: then its next thread may be refused


def _raise(resource: Any, process: int, wanted: int, hard: int) -> None:
    ceiling = wanted if hard in (-1, resource.RLIM_INFINITY) else min(wanted, hard)
    resource.prlimit(process, resource.RLIMIT_DATA, (ceiling, hard))


class Tracer:
    """What is known of each traced process."""

    def __init__(
        self, find_op: FindOp, keep: Callable[[Dict[str, Any]], None] = lambda evidence: None
    ) -> None:
        """Nothing is traced yet; `keep` gets what was seen of a dying process while it is still stopped."""
        self._find_op, self._keep = find_op, keep
        self._groups: dict[int, int] = {}  # thread -> process, for threads that are not the process's first
        self._evidence: dict[int, dict[str, Any]] = {}
        self._seen_at: dict[int, float] = {}
        self.stacks = StackRoom()

    def handle(self, task: int, status: int) -> dict[str, Any] | None:
        """Deal with a stop that `waitpid` reported, and let the task go on; the evidence, if it is dying."""
        event, number = status >> 16, os.WSTOPSIG(status)
        found: dict[str, Any] | None = None
        deliver = 0
        try:
            if event == ptrace.EVENT_CLONE:
                process = self._process_of(task)
                self._join(ptrace.event_message(task), process)
                self.stacks.thread_began(process)
            elif event == ptrace.EVENT_EXIT:
                self._note_memory(task)
            elif not event:
                deliver = number
                found = self._note_signal(task, number)
        except Exception:
            # Whatever went wrong while looking, evidence is a courtesy and a stuck worker is not.
            found = None
        if event == ptrace.EVENT_STOP and number in _STOPPING:
            ptrace.leave_stopped(task)
        else:
            ptrace.resume(task, deliver)
        return found

    def evidence(self, process: int) -> dict[str, Any]:
        """What was seen of a process that has ended; it is handed out once."""
        found = self._evidence.pop(process, {})
        self.forget(process)
        return found

    def forget(self, process: int) -> None:
        """Drop everything about a process."""
        self._evidence.pop(process, None)
        self._seen_at.pop(process, None)
        self.stacks.forget(process)
        self._groups = {task: group for task, group in self._groups.items() if group != process}

    def _process_of(self, task: int) -> int:
        known = self._groups.get(task)
        if known is not None:
            return known
        group = tracee.read_status(task).get("Tgid", "")
        process = int(group) if group.isdigit() else task
        self._join(task, process)
        return process

    def _join(self, task: int, process: int) -> None:
        if task and task != process:
            self._groups[task] = process

    def _note_memory(self, task: int) -> None:
        """A task is about to end: the last moment at which the memory of its process can be read."""
        process = self._process_of(task)
        sizes = tracee.memory_sizes(tracee.read_status(task))
        if sizes:
            self._evidence.setdefault(process, {})["memory"] = sizes
        if self._groups.pop(task, None):  # its number may soon be another's
            self.stacks.thread_ended(process)

    def _note_signal(self, task: int, number: int) -> dict[str, Any] | None:
        if number not in _FATAL:
            return None
        process = self._process_of(task)
        code, address = ptrace.signal_origin(task)
        status = tracee.read_status(task)
        if code <= 0 and _is_ignored(status, number):
            return None
        now = time.monotonic()
        if now - self._seen_at.get(process, -_RERAISE_S) < _RERAISE_S:
            return self._evidence.get(process)
        self._seen_at[process] = now
        found = {
            "signal": signal.Signals(number).name,
            "signal_code": code,
            "fault_address": address if code > 0 and code != _SI_KERNEL else None,
            "thread": task,
            "threads": int(status.get("Threads", "0")),
            "frames": [],
            "memory": tracee.memory_sizes(status),
            **self._find_op(None, []),
        }
        self._evidence[process] = found
        found.update(_look(task, number, self._find_op))
        self._keep(found)
        return found


def short(evidence: dict[str, Any]) -> dict[str, Any]:
    """Evidence that fits into a message: names of C++ functions can be of any length."""
    frames = [
        dict(frame, symbol=(frame.get("symbol") or "")[:_MAX_SYMBOL])
        for frame in evidence.get("frames", [])[:_MAX_FRAMES]
    ]
    return dict(evidence, frames=frames)


def _is_ignored(status: dict[str, str], number: int) -> bool:
    try:
        return bool(int(status.get("SigIgn", "0"), 16) >> (number - 1) & 1)
    except ValueError:
        return False


def _look(task: int, number: int, find_op: FindOp) -> dict[str, Any]:
    """The frames of a stopped thread and the op they run; nothing where the registers cannot be read."""
    registers = ptrace.registers(task)
    if registers is None:
        return {}
    process = tracee.Tracee(task)
    try:
        frames = backtrace.name_frames(backtrace.Walker(process, registers).walk())
        return {
            **(ptrace.failed_division(process, registers) if number == signal.SIGFPE else {}),
            "frames": [
                {
                    "library": os.path.basename(frame.path),
                    "symbol": symbol.name,
                    "address": frame.vaddr,
                    "exact": frame.exact,
                }
                for frame, symbol in frames
            ],
            **find_op(process, frames),
            "model_files": process.model_files(),
        }
    finally:
        process.close()
