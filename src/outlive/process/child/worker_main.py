"""The worker: one interpreter, served call by call, until it stops or dies.

Before each native call it writes the stage into the shared block, so that the record of
its death names it. Hot calls (invoke with inputs and outputs of fixed size) cross no pipe while both sides
are awake: see `wire`.
"""

from __future__ import annotations

import faulthandler
import gc
import mmap
import os
import platform
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from . import runtimes, wire
from .model_host import ModelHost
from .operating_system import memory_watchdog, own_process, sandbox

# How long a worker stays awake after a call, waiting for the next one of a burst: an eighth of what the call
# took, within bounds. Large tensors take their owner longer to fetch and to fill.
_SPIN_NS, _LONGEST_SPIN_NS = 120_000, 1_000_000
# Stores and loads may pass each other on their way to memory; a first sleep this short heals a lost wake-up.
_FIRST_SLEEP_MS = 50
_LONGEST_REPORTED_NS = 0xFFFFFFFF * 1000
# What the runtime prints is kept for the record of a death; looked after each so many hot calls (2^n - 1).
_SOME = 0xFFF
_MOST_PRINTED_BYTES, _KEPT_BYTES = 1 << 20, 1 << 16
# What an exception may say: an answer has to be shorter than `wire.MAX_HEADER_BYTES`.
_MOST_NAME, _MOST_TEXT = 200, 1 << 16


def main(
    commands: int,
    replies: int,
    block: int,
    errors: int,
    faults: int,
    parent: int,
    content: int = -1,
    **message: Any,
) -> None:
    """A worker that was started afresh, not forked: the same, with its own runtime to load."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    own_process.follow(parent, commands)
    try:
        facts = runtimes.preload(message["runtime"])
    except BaseException as error:  # whatever a broken installation throws
        wire.send(replies, {"answer": "absent", "text": "%s: %s" % (type(error).__name__, error)})
        os._exit(70)
    memory_watchdog.watch_self(message["limits"].get("memory_bytes"), wire.OWN_END)
    os._exit(run(message, [commands, replies, block, errors, faults, content], facts))


def prepare(small_stacks: bool = True) -> None:
    """In the nursery: do once what each worker would do after the fork."""
    platform.machine()
    own_process.prepare()
    if small_stacks:
        own_process.make_stacks_small()
    sandbox.prepare()
    gc.collect()
    gc.freeze()  # what is never collected is never written to, and stays shared
    own_process.trim_heap()


def run(message: dict[str, Any], descriptors: list[int], facts: dict[str, Any] | None = None) -> int:
    """Serve until told to stop; the exit code."""
    commands, replies, block, errors, faults = descriptors[:5]
    content = descriptors[5] if len(descriptors) > 5 and descriptors[5] >= 0 else None
    os.dup2(errors, 2)
    os.dup2(errors, 1)
    faulthandler.enable(os.fdopen(faults, "w"), all_threads=True)
    own_process.name_process("outlive-worker")
    try:
        os.chdir(message["cwd"])
    except OSError:
        pass  # the folder is gone: relative paths fail with the runtime's own words
    applied = own_process.limit(message["limits"])
    server = _Server(commands, replies, block, errors, spin=message.get("spin", ""))
    server.host = ModelHost(message["runtime"], content, server.enter)
    applied["sandbox"] = sandbox.enter(message["sandbox"])
    memory = own_process.memory() or None
    ready = {"ready": os.getpid(), "limits": applied, "memory": memory, "facts": facts or {}}
    wire.send(replies, dict(ready, answer="ok"))
    try:
        server.serve()
    except wire.ConnectionClosed:
        return 0
    return 0


class _Server:
    """Waits for calls and answers them."""

    host: ModelHost

    def __init__(self, commands: int, replies: int, block: int, errors: int, spin: str) -> None:
        self._commands, self._replies, self._block, self._errors = commands, replies, block, errors
        self._spin_ns = _SPIN_NS if spin else 0
        # On a single core the side that waits gives it to the other.
        self._spin = _spin_in_turns if spin == "yield" else _spin_alone
        self._map: mmap.mmap | None = None
        self._remap(wire.HEADER_BYTES)
        self._last = 0
        self._poll = own_process.input_poll(commands)

    def enter(self, stage: str) -> None:
        """Say in the shared block what is about to happen."""
        self._words[wire.STAGE] = wire.STAGES.index(stage)

    def serve(self) -> None:
        while True:
            # True when a hot call has come since we last answered one.
            self._words[wire.WORKER_STATE] = wire.BLOCKED
            if self._words[wire.COMMAND] != self._last:
                self._answer_hot()
            elif not self._read_command():
                return

    def _remap(self, size: int) -> None:
        # The parent has made the block this large; in a sandbox a worker could not.
        # The old mapping goes when the last view of it goes.
        self._map = mmap.mmap(self._block, size)
        self._words = memoryview(self._map)[: wire.HEADER_BYTES].cast("I")

    def _read_command(self) -> bool:
        """Sleep until a byte or a frame comes; False when it says to stop."""
        if not self._poll.poll(_FIRST_SLEEP_MS) and self._words[wire.COMMAND] != self._last:
            return True
        first = wire.read_exactly(self._commands, 1)
        if first[0] != wire.MARKER:
            return True  # a wake-up: the loop looks at the block
        header, payload = wire.receive_rest(self._commands, first)
        return self._answer(header, payload)

    def _answer_hot(self) -> None:
        """Answer a hot call, and those that come soon after it."""
        words, invoke, clock = self._words, self.host.invoke, time.perf_counter_ns
        spin, spin_ns = self._spin, self._spin_ns
        words[wire.WORKER_STATE] = wire.SPINNING if spin_ns else wire.BLOCKED
        awaited, settled = True, spin is not _spin_alone
        while awaited:
            self._last = number = words[wire.COMMAND]
            began = clock()
            words[wire.STAGE] = _INVOKE
            try:
                invoke()
            except Exception as error:
                words[wire.STATUS] = wire.FRAME_FOLLOWS
                wire.send(self._replies, _describe(error))
            words[wire.STAGE] = _IDLE
            took = clock() - began
            words[wire.TOOK_US] = (
                took // 1000 if took < _LONGEST_REPORTED_NS else _LONGEST_REPORTED_NS // 1000
            )
            words[wire.DONE] = number
            if not number & _SOME:
                _cut(self._errors)
            if words[wire.PARENT_STATE] == wire.BLOCKED:
                wire.write_all(self._replies, bytes((number & 0x7F,)))
            if not spin_ns or words[wire.PATIENT]:
                return
            rest = spin_ns if took < 8 * spin_ns else min(took // 8, _LONGEST_SPIN_NS)
            awaited = spin(words, number, began + took + rest)
            if awaited and not settled:
                # Calls come in a burst. The system puts the woken side on the core of its waker, and
                # two that share one would stop each other at every turn.
                settled = True
                own_process.leave_core(words[wire.PARENT_CORE])

    def _answer(self, header: dict[str, Any], payload: bytes) -> bool:
        verb = header["do"]
        if verb == "close":
            self.enter("free")
            self.host.close()
            wire.send(self._replies, {"answer": "ok"})
            return False
        try:
            reply, data = self._do(verb, header, payload)
            reply["answer"] = "ok"
        except Exception as error:
            reply, data = _describe(error), b""
        self.enter("idle")
        _cut(self._errors)
        if header.get("memory"):
            reply["memory"] = own_process.memory(self.host.overlaid_bytes) or None
        wire.send(self._replies, reply, data)
        return True

    def _do(self, verb: str, header: dict[str, Any], payload: bytes) -> tuple[dict[str, Any], bytes]:
        if verb == "share":
            self._remap(header["size"])
            assert self._map is not None
            self.host.share(memoryview(self._map), self._block, header["inputs"], header["outputs"])
            return {"overlaid": self.host.overlaid_bytes}, b""
        if verb == "open" and "compiled" in header:
            from .compiled_model_host import CompiledModelHost

            self.host = CompiledModelHost(self.host)
        action: Callable[..., tuple[dict[str, Any], bytes]] = getattr(self.host, "do_" + verb)
        return action(header, payload)


def _spin_alone(words: Any, last: int, end: int) -> bool:
    """Wait awake for the next call until then, as calls come in bursts."""
    while time.perf_counter_ns() < end:
        for _ in range(40):
            if words[wire.COMMAND] != last:
                return True
    return bool(words[wire.COMMAND] != last)


def _spin_in_turns(words: Any, last: int, end: int) -> bool:
    """The same where both sides share a core: there is nothing to see before the other has had it."""
    pause = own_process.yield_core
    while True:
        pause()
        if words[wire.COMMAND] != last:
            return True
        if time.perf_counter_ns() >= end:
            return False


def _cut(errors: int) -> None:
    """Keep the last of what was printed: a runtime that prints at each call would fill the memory."""
    size = os.fstat(errors).st_size
    if size > _MOST_PRINTED_BYTES:
        kept = own_process.read_at(errors, _KEPT_BYTES, size - _KEPT_BYTES)
        os.ftruncate(errors, 0)
        os.write(errors, kept)


_INVOKE, _IDLE = wire.STAGES.index("invoke"), wire.STAGES.index("idle")


def _describe(error: BaseException) -> dict[str, Any]:
    """An exception in words; the parent raises its like."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = "%s:%d" % (os.path.basename(place.tb_frame.f_code.co_filename), place.tb_lineno) if place else ""
    sys.stderr.flush()
    return {
        "answer": "error",
        "error": type(error).__name__[:_MOST_NAME],
        "text": str(error)[:_MOST_TEXT],
        "where": where,
        "data_bytes": own_process.data_bytes(),
    }
