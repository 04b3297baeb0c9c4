"""The parent's side of a nursery: the process that has the runtime loaded and forks workers on request.

Threads share it. No thread waits while holding its lock, and a message for another thread is put where that
one will find it. Numbers that are no longer waited for are forgotten.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import subprocess
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from outlive.meter import find_cgroup_home, is_stopped, oom_counter_file
from outlive.platforms.posix.child import worker_requests
from outlive.platforms.posix.child.anonymous_files import anonymous_file, tail_of
from outlive.platforms.posix.child.own_process import is_at_work
from outlive.platforms.posix.process import system_calls
from outlive.platforms.posix.process.descriptors import above_standard
from outlive.platforms.posix.process.spawning import spawn, starting, wait_for_end
from outlive.process.worker_factory import (
    CannotStartWorker,
    FactoryGone,
    RuntimeAbsent,
    StartedWorker,
    StartTooSlow,
    WorkerEnd,
    WorkerKind,
    in_words,
    signal_name,
)

# TensorFlow takes seconds to load on an idle machine, and minutes on one with far more to do than cores.
_HELLO_TIMEOUT_S = 300.0
_FORK_TIMEOUT_S = 20.0
_ECHO_TIMEOUT_S = 2.0
_END_TIMEOUT_S = 2.0
# How long to wait for a worker that was killed; it takes a millisecond unless its maker is stopped.
_KILL_TIMEOUT_S = 0.4
# How long one look for a message lasts: another thread may have taken ours in the meantime.
_GLANCE_S = 0.05
# How often to look whether a nursery that does not answer was stopped.
_LOOK_S = 1.0
# How long a worker that ends may be held up by others that have the cores.
_HELD_UP_S = 120.0
_MAX_MESSAGE_BYTES = 1 << 20
_HELLO = 0
# One that holds hundreds of megabytes ends when it has had no worker for so long; the next is started anew.
_IDLE_S = {"tensorflow": 600.0}


_nurseries: weakref.WeakSet[Nursery] = weakref.WeakSet()


class Nursery:
    """A process that has the runtime loaded and forks workers on request."""

    def __init__(self, kind: WorkerKind) -> None:
        """Start the process; it loads the runtime in the background (`wait_ready`)."""
        self._kind, self._owner = kind, os.getpid()
        # Reentrant: the garbage collector may end a worker in the middle of a message about another.
        self._io = threading.RLock()
        self._count = _HELLO
        self._wanted = {_HELLO}
        self._answers: dict[int, dict[str, Any]] = {}
        self._endings: dict[int, WorkerEnd] = {}
        self._pids: dict[int, int] = {}
        self._errors: list[int] = []
        self._lost = False
        self._silent_since: float | None = None
        self.facts: dict[str, Any] | None = None
        with starting:
            self._channel, self._process = self._start(kind)
            _nurseries.add(self)

    def _start(self, kind: WorkerKind) -> tuple[socket.socket, subprocess.Popen[bytes]]:
        try:
            with above_standard(), contextlib.ExitStack() as undo:
                ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                undo.callback(ours.close)
                with theirs:
                    ours.setblocking(False)
                    self._errors.append(anonymous_file("outlive-nursery"))
                    undo.callback(self._close_errors)
                    control = theirs.fileno()
                    arguments = {
                        "control": control,
                        "parent": self._owner,
                        "runtime": kind.runtime,
                        "oom_counter": oom_counter_file(),
                        "cgroup_home": find_cgroup_home(),
                        "idle_s": _IDLE_S.get(kind.runtime, 0.0),
                    }
                    process = spawn(kind, "nursery_main", arguments, [control], self._errors[0])
                undo.pop_all()
                return ours, process
        except OSError as error:
            raise CannotStartWorker(f"nothing can be opened here: {in_words(error)}") from error

    @property
    def pid(self) -> int:
        """The nursery's process."""
        return self._process.pid

    @property
    def in_use(self) -> bool:
        """True while somebody has a worker of it, or waits for one."""
        return bool(self._wanted)

    def alive(self) -> bool:
        """True while the process runs and is ours."""
        # One that was killed lets go of its end a moment before the system says that it is gone.
        here = not self._lost and self._owner == os.getpid() and self._channel.fileno() >= 0
        return here and self._says_it_lives() and not self._is_silent()

    def _is_silent(self) -> bool:
        """True if it has left a request unanswered for so long that it never will."""
        since = self._silent_since
        return since is not None and time.monotonic() - since > _FORK_TIMEOUT_S

    def _says_it_lives(self) -> bool:
        return self._process.poll() is None

    def wait_ready(self, deadline: float | None = None) -> dict[str, Any]:
        """Wait until the runtime is loaded; facts about it. `StartTooSlow` if that is after the deadline."""
        if self.facts is None:
            self.facts = self._understood(self._answer_to(_HELLO, _HELLO_TIMEOUT_S, deadline))
        return self.facts

    def _answer_to(self, number: int, timeout_s: float, deadline: float | None) -> dict[str, Any] | None:
        """What it answers; None if it never will. `StartTooSlow` if the deadline comes first."""
        end, answer = time.monotonic() + timeout_s, None
        last = end + _HELD_UP_S
        while answer is None and time.monotonic() < (last if is_at_work(self.pid) else end):
            look = time.monotonic() + _LOOK_S
            look = look if deadline is None else min(look, deadline)
            answer = self._await(self._answers, number, look)
            if answer is None and not self._goes_on(deadline):
                break
        return answer

    def _goes_on(self, deadline: float | None) -> bool:
        """True if it is worth waiting for; one that was stopped is ended, and another takes its place."""
        with self._io:
            lives = self._take_all()
        if not lives or not self.alive():
            return False
        if is_stopped(self.pid):
            self._process.kill()
            return False
        if deadline is not None and time.monotonic() >= deadline:
            self._silent_since = self._silent_since or time.monotonic()
            raise StartTooSlow("the process that makes workers did not answer in time")
        return True

    def _understood(self, message: dict[str, Any] | None) -> dict[str, Any]:
        self._forget(_HELLO)
        if message is None:
            raise self._not_started()
        if not message["hello"]:
            raise RuntimeAbsent(f"{message['type']}: {message['text']}")
        return message

    def _not_started(self) -> CannotStartWorker:
        said = tail_of(next(iter(self._errors), -1)).strip() or "it says nothing"
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(_GLANCE_S)
            if code < 0:  # killed from outside: the next one may live
                return FactoryGone(
                    f"the process that makes workers was ended ({_how(code)}) while it started"
                )
        return CannotStartWorker(f"{self._kind.python} does not start as a worker: {said}")

    def start_worker(
        self,
        request: dict[str, Any],
        descriptors: list[int],
        handed_over: Callable[[], None] = lambda: None,
        deadline: float | None = None,
    ) -> StartedWorker:
        """Have a worker forked that serves these descriptors."""
        facts = self.wait_ready(deadline)
        number = self._new_number()
        try:
            self._send({**request, "fork": number}, descriptors)
            handed_over()
            answer = self._forked(number, deadline)
        except BaseException:
            self.kill(number)  # if it is made after all
            self._forget(number)
            raise
        self._pids[number] = answer["pid"]
        return StartedWorker(number=number, pid=answer["pid"], untraced=answer["untraced"], facts=facts)

    def _forked(self, number: int, deadline: float | None) -> dict[str, Any]:
        answer = self._answer_to(number, _FORK_TIMEOUT_S, deadline)
        if answer is None:
            raise self._silence()
        if "error" in answer:
            raise CannotStartWorker(f"no new process can be made: {answer['error']}")
        return answer

    def _new_number(self) -> int:
        with self._io:
            self._count += 1
            self._wanted.add(self._count)
            return self._count

    def is_gone(self, number: int) -> bool:
        """True once the worker has been seen to end, or the nursery is gone."""
        with self._io:
            lives = self._take_all()
            return not lives or number in self._endings

    def words(self, number: int) -> dict[str, str]:
        """What a living worker has printed last; nothing if its maker does not answer."""
        answer = self._ask({"to": number, "do": "words"}) or {}
        return {name: str(answer.get(name, "")) for name in ("stderr_tail", "fault_trace")}

    def end(self, number: int) -> None:
        """End a worker at once; wait for its end a moment, and no longer."""
        self.kill(number)
        self._await(self._endings, number, time.monotonic() + _KILL_TIMEOUT_S)
        self._forget(number)

    def kill(self, number: int) -> None:
        """End a worker at once; by its maker, which cannot mistake a new process for it."""
        self._tell(number, "kill")

    def abort(self, number: int) -> None:
        """End a worker so that its tracer and its faulthandler say where it was."""
        self._tell(number, "abort")

    def interrupt(self, number: int) -> None:
        """Do to a worker what Ctrl-C does."""
        self._tell(number, "interrupt")

    def watch(self, number: int, most_bytes: int | None) -> None:
        """Have a worker ended if it holds more private memory than this."""
        self._tell(number, "watch", most_bytes=most_bytes)

    def share(self, number: int, shared_bytes: int) -> None:
        """A worker shares this much with its owner, which counts against no limit."""
        self._tell(number, "share", bytes=shared_bytes)

    def retire(self, number: int) -> None:
        """A worker is no longer needed: it may end by itself, and is ended if it does not."""
        self._tell(number, "retire")
        self._forget(number)

    def _tell(self, number: int, what: str, **more: Any) -> None:
        """Have something done to a worker; one whose maker is gone is gone too."""
        with contextlib.suppress(CannotStartWorker):
            self._send({"to": number, "do": what, **more}, [])

    def ending(self, number: int, timeout_s: float) -> WorkerEnd:
        """How a worker ended."""
        try:
            found: WorkerEnd | None = self._await(self._endings, number, time.monotonic() + timeout_s)
            last = time.monotonic() + _HELD_UP_S
            while found is None and self._are_at_work(number) and time.monotonic() < last:
                found = self._await(self._endings, number, time.monotonic() + _LOOK_S)
        finally:
            self._forget(number)
        if found is not None:
            return found
        if self._echoes():
            return WorkerEnd(unseen=f"it has not ended after {timeout_s:g} s")
        return WorkerEnd(unseen=str(self._silence()))

    def _are_at_work(self, number: int) -> bool:
        """True if the worker has not come to its end yet, or its maker still looks at what it left."""
        return any(map(is_at_work, (self.pid, self._pids.get(number, self.pid))))

    def close(self) -> None:
        """End the process and all its workers."""
        with contextlib.suppress(CannotStartWorker):
            # The end of the stream says the same, unless a forked child of the program holds a copy of it.
            self._send({"end": True}, [])
        self._channel.close()
        self._close_errors()
        wait_for_end(self._process, _END_TIMEOUT_S)

    def abandon(self) -> None:
        """Let go of another process's nursery without ending it."""
        self._channel.close()
        self._close_errors()
        self._process.returncode = 0  # not ours to wait for

    def _close_errors(self) -> None:
        with contextlib.suppress(IndexError):  # two threads may close it at once, and one number only once
            os.close(self._errors.pop())

    def _silence(self) -> CannotStartWorker:
        """Why it does not answer. One that still runs is ended, with all its workers: the next one may."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            how = _how(self._process.wait(_GLANCE_S))
            return FactoryGone(f"the process that makes workers and sees them end is gone ({how})")
        self._process.kill()
        self._process.wait()
        return CannotStartWorker("the process that makes workers and sees them end did not answer")

    def _echoes(self) -> bool:
        """True if it still answers."""
        return self._ask({}) is not None

    def _ask(self, question: dict[str, Any]) -> dict[str, Any] | None:
        """What it answers; None if it does not."""
        number = self._new_number()
        answer: dict[str, Any] | None
        try:
            self._send({**question, "echo": number}, [])
            answer = self._await(self._answers, number, time.monotonic() + _ECHO_TIMEOUT_S)
        except CannotStartWorker:
            return None
        finally:
            self._forget(number)
        return answer

    def _send(self, message: dict[str, Any], descriptors: list[int]) -> None:
        end = time.monotonic() + _ECHO_TIMEOUT_S
        while True:
            try:
                return worker_requests.send_request(self._channel, message, descriptors)
            except BlockingIOError:
                if time.monotonic() > end:
                    raise self._silence() from None
                self._wait(system_calls.WRITABLE, _GLANCE_S)
            except ConnectionError as error:
                self._lost = True
                raise FactoryGone(f"the process that makes workers is gone: {in_words(error)}") from error
            except OSError as error:
                raise CannotStartWorker(
                    f"no process that makes workers is reached: {in_words(error)}"
                ) from error

    def _await(self, table: dict[int, Any], number: int, end: float) -> Any:
        """What comes for this number; None if nothing comes in time, or nothing will ever come."""
        while True:
            with self._io:
                lives = self._take_all()
                if number in table:
                    return table.pop(number)
            left = end - time.monotonic()
            if not lives or left <= 0:
                return None
            self._wait(system_calls.READABLE, min(left, _GLANCE_S))

    def _wait(self, event: int, timeout_s: float) -> None:
        descriptor = self._channel.fileno()
        if descriptor >= 0:
            system_calls.wait(system_calls.poll(descriptor, events=event), timeout_s * 1000)

    def _take_all(self) -> bool:
        """Put all messages that have come where they belong; False if no more can come."""
        while True:
            try:
                data = self._channel.recv(_MAX_MESSAGE_BYTES)
            except ConnectionError:
                return False
            except OSError as error:  # nothing has come, or the system is out of memory for a moment
                return error.errno not in (errno.EBADF, errno.ENOTCONN)
            if not data:
                return False
            self._silent_since = None
            self._put(json.loads(data))

    def _put(self, message: dict[str, Any]) -> None:
        number = message["number"]
        if number not in self._wanted:
            return
        if "gone" not in message:
            self._answers[number] = message
            return
        self._endings[number] = WorkerEnd(
            signal=message["signal"],
            exit_code=message["exit_code"],
            ended_by=message["ended_by"],
            oom_kills=None if message["oom_kills"] is None else (*message["oom_kills"],),
            evidence=message["evidence"] or {},
            stderr_tail=message.get("stderr_tail", ""),
            fault_trace=message.get("fault_trace", ""),
        )

    def _forget(self, number: int) -> None:
        with self._io:
            self._wanted.discard(number)
            self._answers.pop(number, None)
            self._endings.pop(number, None)
            self._pids.pop(number, None)


def abandon_all() -> None:
    """In a forked child of the program: the parent's nurseries, the starting ones too, are not ours."""
    for nursery in list(_nurseries):
        nursery.abandon()


def can_fork(kind: WorkerKind) -> bool:
    """True if workers of this kind may be forked here; one that has threads after all is not used."""
    return all(hasattr(socket, name) for name in ("SCM_RIGHTS", "SOCK_SEQPACKET"))


def _how(code: int) -> str:
    return signal_name(-code) if code < 0 else f"exit code {code}"
