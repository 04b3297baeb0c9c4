"""Engine processes of this machine: each looks at one file at a time, and goes with the scan.

    LocalEngine ── a function and a task, pickled ──► engine process (`serve`)      its standard input
                ◄── the row, a line of JSON ─────────                               its standard output

joblib's own processes are not used. Where one of its calls fails, it leaves a pipe or a process behind, waits
for ever for a row that was never sent, or for a thread that has no memory to begin with (joblib 1.6,
externals/loky/backend/popen_loky_posix.py and queues.py). Here every process and pipe has one owner.

The workers of an engine process: one nursery for many tasks, ended when no task comes any more.

An engine process may live long after the scan (a Dask or Ray worker does), so nothing of ours stays in it;
what its user has open there is left alone. A process that this machine's scan started itself goes with it,
even if the scan is killed. A thread is asked for before one is started: see `threads.py`.
"""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace

from outlive.fleet.rows import EngineError, Row, ScanTask, read_row
from outlive.meter import is_stopped
from outlive.process import operating_system
from outlive.process.factories import close_idle_factories
from outlive.process.operating_system import (
    above_standard,
    quiet_write,
    start_in_session,
    starting,
    wait_for_end,
)
from outlive.process.worker_factory import in_words, signal_name
from outlive.threads import require_thread, run_uninterrupted

# Longer than it takes until the next task.
_IDLE_S = 5.0
_GLANCE_S = 1.0


class WorkerLifetime:
    """Counts the tasks of this process, and ends its nurseries some time after the last."""

    def __init__(self, idle_s: float = _IDLE_S) -> None:
        """Nothing runs yet."""
        self._idle_s = idle_s
        self._lock = threading.Lock()
        self._tasks = 0
        self._timer: threading.Timer | None = None

    @property
    def idle(self) -> bool:
        """True if nothing runs, and no timer waits."""
        return self._tasks == 0 and self._timer is None

    @contextmanager
    def task(self) -> Iterator[None]:
        """For the time of a task."""
        with self._lock:
            self._tasks += 1
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        try:
            yield
        finally:
            with self._lock:
                self._tasks -= 1
                if not self._tasks:
                    self._wait_to_leave()

    def _wait_to_leave(self) -> None:
        timer = threading.Timer(self._idle_s, self._leave)
        timer.daemon = True
        with suppress(MemoryError, RuntimeError):  # without a thread they end with this process
            require_thread()
            timer.start()
            self._timer = timer

    def _leave(self) -> None:
        with self._lock:  # a task that begins now waits, and then starts a nursery of its own
            if not self._tasks:
                self._timer = None
                close_idle_factories()


WORKER_LIFETIME = WorkerLifetime()
_guarded: set[int] = set()


def end_with(owner: int) -> None:
    """End this process when the one that started it is gone, and leave Ctrl-C to that one.

    Only in a process that was started for this: not in the owner itself, nor in one of a cluster.
    """
    if not owner or os.getppid() != owner or owner in _guarded:
        return
    _guarded.add(owner)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(MemoryError, RuntimeError):  # no thread to watch with: it ends when it gets no more tasks
        require_thread()
        threading.Thread(target=_watch, args=(owner,), daemon=True).start()


def _watch(owner: int) -> None:
    while os.getppid() == owner:
        time.sleep(_GLANCE_S)
    os._exit(1)  # our nursery sees our end, and goes as well


Examine = Callable[[ScanTask], Row]

_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from outlive.fleet.local_engine import serve; serve()"
)
# How often to ask all processes, whether or not they seem to have said something: one may be gone whose pipe
# another process holds open.
_LOOK_MS = 1000
# So often in a row it may be found stopped.
_MOST_LOOKS = 3
_END_S = 5.0
_CHUNK_BYTES = 1 << 16
# A row is some kilobytes.
_MOST_ROW_BYTES = 4 << 20
# Begins an answer that is no row: what was raised, in words.
_RAISED = b"!"


class ProcessLost(RuntimeError):
    """An engine process did not give the row it was asked for; the words say why."""


class EngineProcess:
    """A process that looks at files, one at a time."""

    def __init__(self) -> None:
        """Start it; OSError or MemoryError if that cannot be."""
        self._number = self._still = 0
        self._said = bytearray()
        with starting, above_standard(), ExitStack() as undo, ExitStack() as theirs:
            tasks, self._tasks = os.pipe()
            theirs.callback(os.close, tasks)
            undo.callback(os.close, self._tasks)
            self.answers, answers = os.pipe()
            undo.callback(os.close, self.answers)
            theirs.callback(os.close, answers)
            operating_system.set_nonblocking(self.answers)
            self._process = _start(tasks, answers)
            self._pipes = undo.pop_all()

    def give(self, examine: Examine, task: ScanTask) -> None:
        """Have it look at a file."""
        self._number = task.number
        _write_all(self._tasks, pickle.dumps((examine, task)))

    def take(self) -> Row | None:
        """The row, if it has said all of it; ProcessLost if it never will."""
        gone = self._process.poll() is not None  # before the pipe: it may have said its row and ended
        try:
            data = operating_system.read(self.answers, _CHUNK_BYTES)
        except BlockingIOError:
            if gone:
                raise ProcessLost(self._ending()) from None
            self._still = self._still + 1 if is_stopped(self._process.pid) else 0
            if self._still == _MOST_LOOKS:
                raise ProcessLost("an engine process was stopped and did not resume") from None
            return None
        self._said += data
        if not data or len(self._said) > _MOST_ROW_BYTES:
            raise ProcessLost(self._ending() if not data else "an engine process said more than a row")
        return self._row() if self._said.endswith(b"\n") else None

    def _row(self) -> Row:
        line, self._said = bytes(self._said), bytearray()
        if line.startswith(_RAISED):
            raise ProcessLost(line[1:].decode("utf-8", "replace").strip())
        return replace(read_row(line), number=self._number)

    def _ending(self) -> str:
        code = self._process.poll()
        if code is None or code >= 0:
            return f"an engine process ended{'' if code is None else f' with exit code {code}'}"
        return f"an engine process was killed by {signal_name(-code)}"

    def end(self) -> None:
        """End it at once; its own nurseries see that."""
        self._process.kill()
        try:
            wait_for_end(self._process, _END_S)
        finally:
            self._pipes.close()


def _start(tasks: int, answers: int) -> subprocess.Popen[bytes]:
    """Start a process in a session of its own: a Ctrl-C in the terminal is for the scan."""
    path = json.dumps([os.path.abspath(entry) for entry in sys.path])
    command = [sys.executable, "-c", _PROGRAM, path]
    started: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        started.append(start_in_session(command, channel=tasks, stdin=tasks, stdout=answers))

    try:
        run_uninterrupted(start)
    except BaseException:  # an interrupt that came while it was started
        for process in started:
            process.kill()
            wait_for_end(process, _END_S)
        raise
    return started[0]


class LocalEngine:
    """As many processes as jobs, started when there is something to do for them."""

    name = "local"

    def __init__(self, jobs: int) -> None:
        """None runs yet."""
        self.jobs = jobs
        self._idle: list[EngineProcess] = []
        self._busy: dict[int, EngineProcess] = {}
        self._held: list[ScanTask] = []  # no process could be started for it yet

    def results(self, examine: Examine, tasks: Iterator[ScanTask]) -> Iterator[Row]:
        """The rows of the tasks as they come. What is raised costs the tasks that are being done."""
        try:
            while self._give_out(examine, tasks):
                yield from self._rows()
        finally:
            busy, self._busy, self._held = list(self._busy.values()), {}, []
            _end_all(busy)

    def _rows(self) -> Iterator[Row]:
        """The rows of those that have said one by now."""
        # Those that have said something; all of them after a while, for one may be gone or the system
        # blind.
        ready = operating_system.wait(operating_system.poll(*self._busy), _LOOK_MS)
        found = [self._busy[descriptor] for descriptor, _ in ready]
        for process in found or list(self._busy.values()):
            row = process.take()
            if row is not None:
                self._idle.append(self._busy.pop(process.answers))
                yield row

    def _give_out(self, examine: Examine, tasks: Iterator[ScanTask]) -> bool:
        """Give every process a task; False when no task is left and no process is busy."""
        while len(self._busy) < self.jobs:
            task = self._held.pop() if self._held else next(tasks, None)
            if task is None:
                break
            process = self._process()
            if process is None:
                self._held.append(task)
                break
            self._busy[process.answers] = process
            process.give(examine, task)
        return bool(self._busy)

    def _process(self) -> EngineProcess | None:
        """One that has nothing to do; None if no more can be started, but others are at work."""
        if self._idle:
            return self._idle.pop()
        try:
            return EngineProcess()
        except (OSError, MemoryError, subprocess.SubprocessError) as error:
            if self._busy:
                return None
            raise EngineError(f"the engine cannot start: {in_words(error)}") from error

    def close(self) -> None:
        """End all processes."""
        idle, self._idle = self._idle, []
        _end_all(idle)


def _end_all(processes: list[EngineProcess]) -> None:
    """End them, all of them, whatever interrupts it."""
    with ExitStack() as ending:
        for process in processes:
            ending.callback(process.end)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[quiet_write(descriptor, view) :]


def serve() -> None:
    """The main loop of an engine process: one file after the other, until its input ends."""
    tasks, answers = os.fdopen(os.dup(0), "rb"), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    try:
        os.dup2(2, 1)  # what code prints must not reach the answers
    except OSError:  # there is no standard error
        os.dup2(nowhere, 1)
    end_with(os.getppid())
    while True:
        try:
            examine, task = pickle.load(tasks)
        except EOFError:
            return
        _write_all(answers, _answer(examine, task))


def _answer(examine: Examine, task: ScanTask) -> bytes:
    try:
        return examine(task).line()
    except Exception as error:
        words = " ".join(f"{type(error).__name__}: {error}".split())
        return _RAISED + words.encode("utf-8", "replace") + b"\n"
