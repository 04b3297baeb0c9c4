"""The parent's side of a nursery: the process that has the runtime loaded and forks workers on request.

Threads share it. Nobody waits while holding its lock, and a message that is for another is put where that
other will find it. Numbers that nobody waits for any more are forgotten.
"""

from __future__ import annotations

import array
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import threading
import time
from typing import Any

from outlive.meter import find_memory_cgroup
from outlive.worker.descriptors import above_standard, anonymous_file, tail_of
from outlive.worker.hatchery import (
    CannotHatch,
    Ending,
    Hatched,
    Kind,
    MakerGone,
    RuntimeAbsent,
    in_words,
    spawn,
)

# TensorFlow takes seconds to load on an idle machine, and minutes on one with far more to do than cores.
_HELLO_TIMEOUT_S = 300.0
_FORK_TIMEOUT_S = 20.0
_ECHO_TIMEOUT_S = 2.0
_END_TIMEOUT_S = 2.0
# How long one look for a message lasts: another thread may have taken ours in the meantime.
_GLANCE_S = 0.05
_MAX_MESSAGE_BYTES = 1 << 20
_HELLO = 0


class Nursery:
    """A process that has the runtime loaded and forks workers on request."""

    def __init__(self, kind: Kind) -> None:
        """Start the process and wait until it has loaded the runtime."""
        self._owner = os.getpid()
        # Reentrant: the garbage collector may end a worker in the middle of a message about another.
        self._io = threading.RLock()
        self._count = _HELLO
        self._wanted = {_HELLO}
        self._answers: dict[int, dict[str, Any]] = {}
        self._endings: dict[int, Ending] = {}
        self._errors = -1
        self._lost = False
        self._channel, self._process = self._start(kind)
        try:
            self.facts = self._hello(kind)
        except BaseException:
            self.close()
            raise

    def _start(self, kind: Kind) -> tuple[socket.socket, subprocess.Popen[bytes]]:
        try:
            with above_standard(), contextlib.ExitStack() as undo:
                ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                undo.callback(ours.close)
                with theirs:
                    ours.setblocking(False)
                    self._errors = anonymous_file("outlive-nursery")
                    undo.callback(self._close_errors)
                    control = theirs.fileno()
                    arguments = {
                        "control": control,
                        "parent": self._owner,
                        "runtime": kind.runtime,
                        "oom_counter": _oom_counter(),
                    }
                    process = spawn(kind, "nursery", arguments, [control], self._errors)
                undo.pop_all()
                return ours, process
        except OSError as error:
            raise CannotHatch(f"nothing can be opened here: {in_words(error)}") from error

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
        return here and self._says_it_lives()

    def _says_it_lives(self) -> bool:
        return self._process.poll() is None

    def hatch(self, order: dict[str, Any], descriptors: list[int]) -> Hatched:
        """Have a worker forked that serves these descriptors."""
        with self._io:
            self._count += 1
            number = self._count
            self._wanted.add(number)
        try:
            self._send({**order, "fork": number}, descriptors)
            answer = self._await(self._answers, number, _FORK_TIMEOUT_S)
            if answer is None:
                raise self._silence()
            if "error" in answer:
                raise CannotHatch(f"no new process can be made: {answer['error']}")
        except BaseException:
            self._forget(number)
            raise
        return Hatched(number=number, pid=answer["pid"], untraced=answer["untraced"], facts=self.facts)

    def kill(self, number: int) -> None:
        """End a worker at once; by its maker, which cannot mistake a new process for it."""
        with contextlib.suppress(CannotHatch):
            self._send({"to": number, "do": "kill"}, [])

    def abort(self, number: int) -> None:
        """End a worker so that its tracer and its faulthandler say where it was."""
        with contextlib.suppress(CannotHatch):
            self._send({"to": number, "do": "abort"}, [])

    def interrupt(self, number: int) -> None:
        """Do to a worker what Ctrl-C does."""
        with contextlib.suppress(CannotHatch):
            self._send({"to": number, "do": "interrupt"}, [])

    def watch(self, number: int, most_bytes: int | None) -> None:
        """Have a worker ended if it holds more private memory than this."""
        with contextlib.suppress(CannotHatch):
            self._send({"to": number, "do": "watch", "most_bytes": most_bytes}, [])

    def retire(self, number: int) -> None:
        """Nobody waits for a worker any more: it may end by itself, and is ended if it does not."""
        with contextlib.suppress(CannotHatch):
            self._send({"to": number, "do": "retire"}, [])
        self._forget(number)

    def ending(self, number: int, timeout_s: float) -> Ending:
        """How a worker ended."""
        try:
            found: Ending | None = self._await(self._endings, number, timeout_s)
        finally:
            self._forget(number)
        if found is not None:
            return found
        if self._echoes():
            return Ending(unseen=f"it has not ended after {timeout_s:g} s")
        return Ending(unseen=str(self._silence()))

    def close(self) -> None:
        """End the process and all its workers."""
        with contextlib.suppress(CannotHatch):
            # The end of the stream says the same, unless a forked child of the program holds a copy of it.
            self._send({"end": True}, [])
        self._channel.close()
        self._close_errors()
        try:
            self._process.wait(timeout=_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def abandon(self) -> None:
        """Let go of another process's nursery without ending it."""
        self._channel.close()
        self._close_errors()
        self._process.returncode = 0  # not ours to wait for

    def _close_errors(self) -> None:
        if self._errors >= 0:
            os.close(self._errors)
            self._errors = -1

    def _hello(self, kind: Kind) -> dict[str, Any]:
        message: dict[str, Any] | None = self._await(self._answers, _HELLO, _HELLO_TIMEOUT_S)
        self._forget(_HELLO)
        if message is None:
            said = tail_of(self._errors).strip() or "it says nothing"
            raise CannotHatch(f"{kind.python} does not start as a worker: {said}")
        if not message["hello"]:
            raise RuntimeAbsent(f"{message['type']}: {message['text']}")
        return message

    def _silence(self) -> CannotHatch:
        """Why it does not answer. One that still runs is ended, with all its workers: the next one may."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(_GLANCE_S)
            how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            return MakerGone(f"the process that makes workers and sees them end is gone ({how})")
        self._process.kill()
        self._process.wait()
        return CannotHatch("the process that makes workers and sees them end did not answer")

    def _echoes(self) -> bool:
        """True if it still answers."""
        with self._io:
            self._count += 1
            number = self._count
            self._wanted.add(number)
        try:
            self._send({"echo": number}, [])
            return self._await(self._answers, number, _ECHO_TIMEOUT_S) is not None
        except CannotHatch:
            return False
        finally:
            self._forget(number)

    def _send(self, message: dict[str, Any], descriptors: list[int]) -> None:
        rights = (
            [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        )
        data = [json.dumps(message).encode("utf-8")]
        end = time.monotonic() + _ECHO_TIMEOUT_S
        while True:
            try:
                self._channel.sendmsg(data, rights, getattr(socket, "MSG_NOSIGNAL", 0))
                return
            except BlockingIOError:
                if time.monotonic() > end:
                    raise self._silence() from None
                self._wait(select.POLLOUT, _GLANCE_S)
            except ConnectionError as error:
                self._lost = True
                raise MakerGone(f"the process that makes workers is gone: {in_words(error)}") from error
            except OSError as error:
                raise CannotHatch(f"no process that makes workers is reached: {in_words(error)}") from error

    def _await(self, table: dict[int, Any], number: int, timeout_s: float) -> Any:
        """What comes for this number; None if nothing comes in time, or nothing will ever come."""
        end = time.monotonic() + timeout_s
        while True:
            with self._io:
                lives = self._take_all()
                if number in table:
                    return table.pop(number)
            left = end - time.monotonic()
            if not lives or left <= 0:
                return None
            self._wait(select.POLLIN, min(left, _GLANCE_S))

    def _wait(self, event: int, timeout_s: float) -> None:
        descriptor = self._channel.fileno()
        if descriptor >= 0:
            poll = select.poll()
            poll.register(descriptor, event)
            poll.poll(timeout_s * 1000)

    def _take_all(self) -> bool:
        """Put all messages that have come where they belong; False if no more can come."""
        while True:
            try:
                data = self._channel.recv(_MAX_MESSAGE_BYTES)
            except BlockingIOError:
                return True
            except OSError:
                return False
            if not data:
                return False
            self._put(json.loads(data))

    def _put(self, message: dict[str, Any]) -> None:
        number = message["number"]
        if number not in self._wanted:
            return
        if "gone" not in message:
            self._answers[number] = message
            return
        self._endings[number] = Ending(
            signal=message["signal"],
            exit_code=message["exit_code"],
            ended_by=message["ended_by"],
            oom_kills=None if message["oom_kills"] is None else (*message["oom_kills"],),
            evidence=message["evidence"] or {},
        )

    def _forget(self, number: int) -> None:
        with self._io:
            self._wanted.discard(number)
            self._answers.pop(number, None)
            self._endings.pop(number, None)


def _oom_counter() -> str:
    """The file that counts kills for want of memory, as near to us as there is one."""
    place = find_memory_cgroup()
    if place is None or place.oom_events()[1] is None:
        return "/proc/vmstat"
    return str(place.path / ("memory.oom_control" if place.version == 1 else "memory.events"))
