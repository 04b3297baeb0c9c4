"""The nursery: one thread, the runtime loaded once, a fork for each worker that is asked for.

A worker that is to be another program is started afresh, or goes on with the runtime that is loaded.

parent ──control socket──> nursery ──fork──> worker ──pipes, shared block──> parent
             │                 └─ seizes it with ptrace, reaps it, tells the parent how it ended and what it
             │                    said last, and ends whatever the worker had started
             └─ when it closes, or the parent is gone, the nursery and all workers end
"""

from __future__ import annotations

import collections
import errno
import gc
import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from . import anonymous_files, memory_watchdog, own_process, worker_cgroups, worker_requests
from .tracing import tracer

_WALL = 0x40000000  # linux/wait.h: wait for threads of traced processes too
_HELLO = 0
# Without a descriptor for the parent, how often to look whether it is still there.
_LOOK_MS = 1000
# How long a worker may take to leave word of what it was doing before it is ended without.
_OBEY_S = 1.0
# How long one that is no longer needed may take to end by itself.
_RETIRE_S = 5.0
# Who got no core in that time has not had it: how much of a core's time each gets, how long at the most.
_OWN_TIME_S, _LONGEST_S, _AGAIN_S = 1.0, 60.0, 0.1
# How long a nursery that ends waits for its workers to be gone, so that what they had started goes too.
_LAST_WAIT_S = 1.0
_CANNOT_TELL = 71


class WorkerCode(NamedTuple):
    """What is the same on every platform: what to load before the first fork, and what a fork then does.

    `start` is the program that every child process runs, `no_runtime` what a nursery is given whose workers
    start afresh. `running_op` tells from the frames of a stopped thread which operator it ran.
    """

    start: str
    no_runtime: str
    prepare: Callable[[str], dict[str, Any]]
    run: Callable[[dict[str, Any], list[int]], int]
    running_op: tracer.FindOp


def main(
    code: WorkerCode,
    *,
    control: int,
    parent: int,
    runtime: str,
    oom_counter: str,
    cgroup_home: dict[str, Any] | None = None,
    idle_s: float = 0.0,
) -> None:
    """Serve fork requests until the parent is gone, or has had no worker for `idle_s`, if that is not 0."""
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)  # a Ctrl-C in the terminal is the parent's business
    own_process.name_process("outlive-nursery")
    own_process.adopt_orphans()
    own_process.wake_with(parent, control)
    nursery = NurseryServer(
        code,
        socket.socket(fileno=control),
        parent,
        runtime,
        worker_cgroups.OomKillCounter(oom_counter),
        worker_cgroups.WorkerCgroups(cgroup_home),
    )
    try:
        facts = code.prepare(runtime)
    except BaseException as error:  # whatever a broken installation throws
        facts = {"hello": False, "type": type(error).__name__, "text": str(error)}
    else:
        facts.update({"hello": True, "threads": own_process.count_threads()})
    nursery.tell(_HELLO, facts)
    nursery.serve(idle_s)
    os._exit(0)  # no farewell of the runtime's: it may hang, unseen


class _WorkerProcess:
    """A worker: the number the parent gave it, the files for its last words, whether it leads a group.

    `kill_at` is when it is killed if it has not ended by then.
    """

    def __init__(self, number: int, last_words: list[int], leads_group: bool) -> None:
        self.number, self.last_words, self.leads_group = number, last_words, leads_group
        self.kill_at: float | None = None
        self._last_at = self._used_s = 0.0

    def give_time(self, process: int, seconds: float) -> None:
        """Let it end by itself, within so long."""
        now = time.monotonic()
        self.kill_at, self._last_at = now + seconds, now + _LONGEST_S
        self._used_s = own_process.core_seconds(process)

    def is_held_up(self, process: int) -> bool:
        """True if it is on its way and others have the cores; it gets more time then."""
        now = time.monotonic()
        used_s = own_process.core_seconds(process) - self._used_s
        if now >= self._last_at or used_s >= _OWN_TIME_S or not own_process.is_at_work(process):
            return False
        self.kill_at = now + _AGAIN_S
        return True


class NurseryServer:
    """Forks, traces and reaps."""

    def __init__(
        self,
        code: WorkerCode,
        channel: socket.socket,
        parent: int,
        runtime: str,
        oom_count: worker_cgroups.OomKillCounter,
        own: worker_cgroups.WorkerCgroups,
    ) -> None:
        self._code = code
        self._channel, self._parent, self._pid = channel, parent, os.getpid()
        self._runtime = runtime
        channel.setblocking(False)
        self._workers: dict[int, _WorkerProcess] = {}  # by their process
        self._unsent: collections.deque[bytes] = collections.deque()
        self._tracer = tracer.Tracer(code.running_op)
        self._watchdog = memory_watchdog.Watchdog()
        self._oom_count, self._cgroups = oom_count, own
        self._spare = worker_requests.SpareWorker(self._become_spare)
        self._descriptor_limit = own_process.raise_descriptor_limit()
        self._wake_read, self._wake_write = os.pipe()
        for end in (self._wake_read, self._wake_write):
            os.set_blocking(end, False)
        self._parent_end = own_process.open_process(parent)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)

    def serve(self, idle_s: float = 0.0) -> None:
        """Wait for requests and for ends, until the parent is gone, or there was nothing to do for long."""
        self._idle_s, self._used_at = idle_s, time.monotonic()
        poll = own_process.input_poll(self._wake_read)
        if self._parent_end is not None:
            poll.register(self._parent_end, select.POLLIN)
        while os.getppid() == self._parent and not _is_past(self._idle_end()):
            # A parent that does not read must not make us wait: workers have to be reaped meanwhile.
            poll.register(self._channel, select.POLLIN | (select.POLLOUT if self._unsent else 0))
            ready = dict(poll.poll(self._pause_ms()))
            if self._parent_end in ready:
                break
            if self._wake_read in ready:
                self._drain()
                self._reap()
            events = ready.get(self._channel.fileno(), 0)
            self._flush()
            if not events & ~select.POLLOUT:
                self._look()
            elif not self._request():  # before the next look: it may be about another limit
                break
        self._end_all()

    def _end_all(self) -> None:
        """End the workers, and then what they leave behind."""
        self._spare.drop()
        for process in list(self._workers):
            _kill(process)
            self._end_group(process)
        end = time.monotonic() + _LAST_WAIT_S
        while (own_process.children() or not self._cgroups.remove_left()) and time.monotonic() < end:
            self._reap()
            self._end_orphans()
            time.sleep(0.001)

    def _end_orphans(self) -> None:
        """End what workers that are gone had started: see `own_process.adopt_orphans`."""
        for process in own_process.children():
            if process not in self._workers and process != self._spare.process():
                _kill(process)

    def _end_group(self, leader: int) -> None:
        """What a worker has started goes with it."""
        worker = self._workers[leader]
        if worker.leads_group:
            worker.leads_group = False
            try:
                os.killpg(leader, signal.SIGKILL)
            except OSError:
                pass

    def _look(self) -> None:
        if self._watchdog.is_due():
            self._oom_count.look()
            self._end_those(self._watchdog.look())
        self._spare.look()
        self._cgroups.remove_left()
        self._end_late()

    def _end_late(self) -> None:
        """End those that were to end by themselves, and did not."""
        late = [process for process, worker in self._workers.items() if _is_past(worker.kill_at)]
        if late:
            self._reap()  # one that has stopped to be looked at goes on
        for process in late:
            worker = self._workers.get(process)
            if worker is not None and not worker.is_held_up(process):
                _kill(process)
                worker.kill_at = None

    def _end_those(self, suspects: dict[int, int]) -> None:
        """End those that hold too much, unless a request that came meanwhile gives them another limit."""
        poll = own_process.input_poll(self._channel.fileno())
        while suspects and poll.poll(0) and self._request():
            pass
        for process, most in suspects.items():
            if self._watchdog.catch(process, most):
                self._end(process, gently=True)

    def _pause_ms(self) -> int | None:
        pauses = [self._watchdog.pause_ms(), self._spare.pause_ms(), self._cgroups.pause_ms()]
        if self._parent_end is None:
            pauses.append(_LOOK_MS)
        ends = [self._idle_end(), *(worker.kill_at for worker in self._workers.values())]
        pauses += [own_process.until_ms(end) for end in ends if end is not None]
        return min([pause for pause in pauses if pause is not None], default=None)

    def _idle_end(self) -> float | None:
        """When it ends for want of workers; None while it has one, and if it never does."""
        return self._used_at + self._idle_s if self._idle_s and not self._workers else None

    def _drain(self) -> None:
        try:
            while os.read(self._wake_read, 4096):
                pass
        except OSError:
            pass

    def tell(self, number: int, message: dict[str, Any]) -> None:
        """Tell the parent, now or when it can listen."""
        self._unsent.append(json.dumps(dict(message, number=number)).encode("utf-8"))
        self._flush()

    def _flush(self) -> None:
        while self._unsent:
            try:
                self._channel.send(self._unsent[0])
            except BlockingIOError:
                return
            except ConnectionError:
                pass  # the parent is gone; the loop will notice
            except OSError:
                os._exit(_CANNOT_TELL)  # a parent that waits for this answer learns at least of our end
            self._unsent.popleft()

    def _request(self) -> bool:
        """Serve one request; False when the parent has closed its end."""
        try:
            message, descriptors, is_whole = worker_requests.receive_request(self._channel)
        except OSError as error:
            return error.errno in (errno.EINTR, errno.EAGAIN)
        if message is None or "end" in message:
            return False
        if "fork" in message:
            self._fork(message, descriptors, is_whole)
        elif "to" in message:
            for process, worker in list(self._workers.items()):
                if worker.number == message["to"]:
                    self._serve_worker(process, message)
        elif "echo" in message:
            self.tell(message["echo"], {"echo": True})
        for descriptor in descriptors:
            os.close(descriptor)
        if "fork" in message and "program" not in message:
            # Not earlier: a spare must not hold the ends of another's pipes.
            self._spare.make()
            if self._spare.process():
                self._cgroups.take_in(self._spare.process())
        return True

    def _serve_worker(self, process: int, message: dict[str, Any]) -> None:
        if message["do"] == "watch":
            self._watchdog.allow(process, message["most_bytes"])
        elif message["do"] == "share":
            self._cgroups.share(process, message["bytes"])
        elif message["do"] == "interrupt":
            _kill(process, signal.SIGINT)
        elif message["do"] == "words":
            words = anonymous_files.read_last_words(self._workers[process].last_words)
            self.tell(message["echo"], words)
        elif message["do"] == "retire":
            self._workers[process].give_time(process, _RETIRE_S)
        else:
            self._end(process, gently=message["do"] == "abort")

    def _end(self, process: int, gently: bool) -> None:
        """End a worker; gently so that it can leave word of what it was doing."""
        if not gently:
            _kill(process)
        elif self._workers[process].kill_at is None:
            _kill(process, signal.SIGABRT)
            self._workers[process].give_time(process, _OBEY_S)

    def _fork(self, message: dict[str, Any], descriptors: list[int], is_whole: bool) -> None:
        number = message["fork"]
        if not is_whole:
            self.tell(number, {"error": os.strerror(errno.EMFILE)})
            return
        words: list[int] = []
        try:
            if "program" not in message:
                words = anonymous_files.open_last_words()
            process, refused = self._new_worker(message, [*descriptors[:3], *words, *descriptors[3:]])
        except OSError as error:
            _close(words)
            self.tell(number, {"error": os.strerror(error.errno or 0)})
            return
        self._workers[process] = _WorkerProcess(number, words, leads_group="program" in message)
        if "program" in message:
            self._tracer.stacks.expect(process, own_process.stack_bytes())
        self._limit(process, message["limits"])
        self.tell(number, {"pid": process, "untraced": refused})

    def _limit(self, process: int, limits: dict[str, Any]) -> None:
        """Keep a worker to what it may hold beside what it has from us."""
        held = self._watchdog.watch(process, limits.get("memory_bytes"))
        if held is None:
            return
        self._cgroups.take_in(process)
        if limits["asked_bytes"] is not None:
            most = held + limits["asked_bytes"] + limits.get("mapped_bytes", 0) + worker_cgroups.SLACK_BYTES
            self._cgroups.limit(process, most, no_swap=True)
        else:  # between the watchdog's limit and the end of all memory
            most = (limits["memory_bytes"] + limits["left_bytes"]) // 2
            self._cgroups.limit(process, most, no_swap=False)

    def _new_worker(self, message: dict[str, Any], descriptors: list[int]) -> tuple[int, str]:
        """The process of a new worker, the spare or a new fork, and why it cannot be traced, if it cannot."""
        process = 0 if "program" in message else self._spare.process()
        refused = tracer.seize(process) if process else ""
        if process and self._spare.begin(message, descriptors):
            return process, refused
        process = self._fork_worker(message, descriptors)
        return process, tracer.seize(process)

    def _fork_worker(self, message: dict[str, Any], descriptors: list[int]) -> int:
        process = os.fork()
        if process == 0:
            self._become(lambda: (message, descriptors))
        own_process.start_elsewhere(process)
        return process

    def _become_spare(self, channel: socket.socket) -> None:
        """In the child: wait for a request, and for nothing else."""

        def await_request() -> tuple[dict[str, Any] | None, list[int]]:
            own_process.name_process("outlive-spare")
            with channel:
                message, descriptors, is_whole = worker_requests.receive_request(channel)
            return message if is_whole else None, descriptors

        self._become(await_request)

    def _become(self, get_request: Callable[[], tuple[dict[str, Any] | None, list[int]]]) -> None:
        """In the child: forget the nursery, become what the request says, and never come back."""
        code = 70
        try:
            signal.set_wakeup_fd(-1)
            for name in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
                signal.signal(name, signal.SIG_DFL)
            own_process.die_with(self._pid)
            self._channel.close()
            others = [one for worker in self._workers.values() for one in worker.last_words]
            _close([self._wake_read, self._wake_write, self._parent_end, *others])
            own_process.adopt_orphans()
            own_process.restore_descriptor_limit(self._descriptor_limit)
            message, descriptors = get_request()
            if message is None:
                os._exit(0)  # no request will come
            if "program" in message:
                if self._runtime == self._code.no_runtime:
                    worker_requests.become_program(self._code.start, message, descriptors)
                worker_requests.run_program(message, descriptors)
            code = self._code.run(message, descriptors)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(code)

    def _reap(self) -> None:
        has_ended = False
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG | _WALL)
            except ChildProcessError:
                return
            if process == 0:
                if has_ended:
                    self._end_orphans()
                return
            if os.WIFSTOPPED(status):
                self._tracer.handle(process, status)
                continue
            has_ended = True
            end = self._cgroups.leave(process)
            if process in self._workers:
                self._tell_end(process, status, end)
            elif process == self._spare.process():
                self._spare.forget()

    def _tell_end(self, process: int, status: int, end: worker_cgroups.CgroupEnd) -> None:
        signaled = os.WIFSIGNALED(status)
        evidence = tracer.short(self._tracer.evidence(process))
        message = {
            "gone": True,
            "signal": os.WTERMSIG(status) if signaled else None,
            "exit_code": None if signaled else os.WEXITSTATUS(status),
            "ended_by": "memory" if self._watchdog.forget(process) or end.by_own_limit else "",
            "oom_kills": [0, end.kills] if end.kills else self._oom_count.around_now(),
            "evidence": evidence,
        }
        self._end_group(process)
        worker = self._workers.pop(process)
        self._used_at = time.monotonic()
        message.update(anonymous_files.read_last_words(worker.last_words))
        _close(worker.last_words)
        self.tell(worker.number, message)
        if evidence.get("frames"):
            # Looking at a stack took memory, which the workers to come would fill first: see `trim_heap`.
            del message, evidence
            gc.collect()
            own_process.trim_heap()


def _is_past(moment: float | None) -> bool:
    return moment is not None and moment <= time.monotonic()


def _close(descriptors: Iterable[int | None]) -> None:
    for descriptor in descriptors:
        if descriptor is not None:
            os.close(descriptor)


def _kill(process: int, number: int = signal.SIGKILL) -> None:
    try:
        os.kill(process, number)
    except OSError:
        pass
