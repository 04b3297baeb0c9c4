"""Requests for workers: a message in JSON with descriptors, the spare that waits for one, other programs."""

from __future__ import annotations

import array
import importlib
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

from . import own_process

_MAX_MESSAGE_BYTES = 1 << 20
_MAX_DESCRIPTORS = 8
_NO_SIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)
# What arrives is not handed on to programs that this process starts: their copy of a pipe would hide a death.
_CLOSE_ON_EXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
# How long a spare waits for a request.
_KEPT_S = 10.0
# A large result is copied for another process to read: past the caches, where it only drives out what we need
# ourselves, and a third quicker. The C library decides it by size (glibc manual, Hardware Capability
# Tunables), by default only for what is larger than most caches. The function's own copies go the same way.
_LARGE_COPIES = "glibc.cpu.x86_non_temporal_threshold=0x400000"


def send_request(channel: socket.socket, message: dict[str, Any], descriptors: list[int]) -> None:
    """Send a request whole; OSError if that cannot be."""
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    channel.sendmsg([json.dumps(message).encode("utf-8")], rights, _NO_SIGNAL)


def receive_request(channel: socket.socket) -> tuple[dict[str, Any] | None, list[int], bool]:
    """A request, the descriptors that came with it, and whether all of them did; None at the end."""
    size = socket.CMSG_SPACE(_MAX_DESCRIPTORS * array.array("i").itemsize)
    data, ancillary, flags, _ = channel.recvmsg(_MAX_MESSAGE_BYTES, size, _CLOSE_ON_EXEC)
    descriptors = array.array("i")
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(content[: len(content) - len(content) % descriptors.itemsize])
    is_whole = not flags & socket.MSG_CTRUNC
    return (json.loads(data.decode("utf-8")) if data else None), list(descriptors), is_whole


class SpareWorker:
    """A worker that is forked before it is asked for, and waits for its request; a nursery has one or none.

        nursery ──fork, once a worker has been given away──> spare ──request, descriptors──> worker

    Of the 6 to 8 ms that opening a small model takes, it saves one or so: it is forked already, and has
    touched some of the pages that every worker touches. It knows nothing of any model and holds nothing but
    its end of a socket. After ten seconds without a request it ends.
    """

    def __init__(self, become: Callable[[socket.socket], None]) -> None:
        """`become` is called in the forked child with its end of the socket, and never returns."""
        self._become = become
        self._process = 0
        self._until = 0.0
        self._channel: socket.socket | None = None

    def make(self) -> None:
        """Fork a spare, if that is possible."""
        # On a single core it would only take the time of the worker that has just begun.
        if self._process or own_process.count_cores() < 2:
            return
        try:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        except OSError:
            return
        with theirs:
            try:
                self._process = os.fork()
            except OSError:
                ours.close()
                return
            if not self._process:
                ours.close()
                self._become(theirs)
        ours.setblocking(False)
        self._channel, self._until = ours, time.monotonic() + _KEPT_S

    def process(self) -> int:
        """The spare's process; 0 if there is none."""
        return self._process

    def begin(self, message: dict[str, Any], descriptors: list[int]) -> bool:
        """Let the spare begin as a worker; False if it cannot be reached, and then it is gone."""
        assert self._channel is not None
        try:
            send_request(self._channel, message, descriptors)
        except OSError:
            self.drop()
            return False
        self.forget()
        return True

    def drop(self) -> None:
        """End the spare, if there is one."""
        if self._process:
            try:
                os.kill(self._process, signal.SIGKILL)
            except OSError:
                pass
        self.forget()

    def forget(self) -> None:
        """It has ended, or is a worker now."""
        if self._channel is not None:
            self._channel.close()
        self._process, self._channel = 0, None

    def look(self) -> None:
        """End a spare that was not asked for in time."""
        if self._process and self._until <= time.monotonic():
            self.drop()

    def pause_ms(self) -> int | None:
        """How long until the next look; None for as long as one likes."""
        return own_process.until_ms(self._until) if self._process else None


def run_program(message: dict[str, Any], descriptors: list[int]) -> None:
    """Run the program that the request names here, with all that is loaded; in the child of a fork."""
    arguments = _arguments(message, descriptors)
    sys.path += [entry for entry in arguments.pop("sys_path") if entry not in sys.path]
    importlib.import_module("outlive_child." + message["program"]).main(**arguments)


def _arguments(message: dict[str, Any], descriptors: list[int]) -> dict[str, Any]:
    os.setpgid(0, 0)  # what it starts itself can then be ended with it
    ends = dict(zip(message["names"], descriptors))
    # What goes wrong before the program has its own streams is written where it will look.
    os.dup2(ends["errors"], 2)
    own = {name: message[name] for name in ("sys_path", "awake", "modules", "idle_s", "sandbox")}
    return dict(ends, **own)


def become_program(start: str, message: dict[str, Any], descriptors: list[int]) -> NoReturn:
    """Start the program that the request names, a role of `start`, with its descriptors; in a fork."""
    for descriptor in descriptors:
        os.set_inheritable(descriptor, True)
    arguments = json.dumps(_arguments(message, descriptors))
    environment = dict(os.environ)
    environment.setdefault("GLIBC_TUNABLES", _LARGE_COPIES)
    os.execve(sys.executable, [sys.executable, start, message["program"], arguments], environment)
