"""The caller's ends of everything that ties it to a guarded worker: sockets, slots, pipes, shared memory."""

from __future__ import annotations

import contextlib
import mmap
import os
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any

from outlive.guarding.worker_output import WorkerOutput, deliver_log
from outlive.meter import read_machine
from outlive.process import operating_system
from outlive.process.child.guard import message_frames as wire
from outlive.process.child.guard.lane import (
    BLOCK_BYTES,
    DONE,
    ROUSED_NS,
    WAKE,
    Lane,
    is_worth_it,
)
from outlive.process.child.guard.segments import FramePacker, Inbox, Outbox
from outlive.process.limits import DeadlineMissed
from outlive.process.operating_system import READABLE, WRITABLE, above_standard, close_all, log_file, tail_of
from outlive.process.worker_factory import CannotStartWorker, in_words

# What the worker is given, in this order.
NAMES = ["talk", "rights", "out", "errors", "faults", "block", "stdin"]
# How long the caller waits awake for an answer, if the last one came sooner than that.
_SPIN_NS = 150_000
# When it does not come, although the worker is quick, more than one time in four: how many calls both sleep.
_CROWDED, _PATIENCE = 12, 64
# A longer call costs next to nothing more if we have to be woken after it; by how much a sleeper is late.
_LONGEST_DOZE_NS, _LATE_NS = 10_000_000, 60_000
# Python runs the handlers of signals that another thread received only between two sleeps of this one.
_FIRST_SLEEP_MS, _LATER_SLEEP_MS = 20, 100
_NAP_S = 0.0005
# What comes before an answer.
_AMID = frozenset({wire.LOG, wire.ASK})
# How often to look whether a worker that says nothing is there.
_LOOK_S = 0.1
# A .tflite file has 2 GiB at most, and nothing that comes this way is larger.
_MOST_BYTES = 4 << 30
# A worker has a few that it uses again and again (`segments`).
_MOST_SEGMENTS, _MOST_SPANS = 32, 256
# Below this the machine is not asked what it has left.
_LITTLE_BYTES = 64 << 20


class SegmentReader:
    """The segments of a worker that has run a model: read into memory of our own, never mapped.

    Memory that is mapped can be changed while it is read, and some of it be taken away, which kills the
    reader (SIGBUS); a read ends short.
    """

    def __init__(self, receive_descriptor: Callable[[], int]) -> None:
        """None yet; `receive_descriptor` gives the descriptor of a new one."""
        self._receive_descriptor = receive_descriptor
        self._files: dict[int, int] = {}
        self._freed: list[int] = []

    def leases(self, number: int, size: int, spans: Sequence[tuple[int, int]]) -> list[bytearray]:
        """Copies of parts of a segment; ValueError or OSError if it is not what it was said to be."""
        total = sum(length for _, length in spans)
        if len(spans) > _MOST_SPANS or total > _most_bytes(total):
            raise ValueError(f"{total} bytes in {len(spans)} parts exceed the protocol's limit")
        if number not in self._files:
            self._open(number, size)
        self._freed.append(number)
        return [_read(self._files[number], offset, length) for offset, length in spans]

    def _open(self, number: int, size: int) -> None:
        if len(self._files) >= _MOST_SEGMENTS:
            raise ValueError(f"{len(self._files) + 1} segments exceed the protocol's limit")
        descriptor = self._receive_descriptor()
        try:
            operating_system.check_segment(descriptor, size)
        except BaseException:
            os.close(descriptor)
            raise
        self._files[number] = descriptor

    def drop(self, numbers: Sequence[int]) -> None:
        """The other side will not use these again."""
        for number in numbers:
            descriptor = self._files.pop(number, None)
            if descriptor is not None:
                os.close(descriptor)

    def take_freed(self) -> list[int]:
        """All that were read."""
        freed, self._freed = self._freed, []
        return freed

    def mappings(self) -> list[object]:
        """None."""
        return []

    def close(self) -> None:
        """Give all descriptors back."""
        self.drop(list(self._files))


class GuardConnection:
    """Sends frames, waits for frames, and shows what the worker prints meanwhile."""

    def __init__(self, nap: Callable[[], None], is_gone: Callable[[], bool], *, raw: bool = False) -> None:
        """Open them all, or none; OSError where the system has no more to give.

        `nap` is called now and then while an answer is awaited, and `is_gone` says whether the worker has
        ended: what it started may hold its end of the socket.
        """
        self._nap, self._is_gone = nap, is_gone
        self._next_look = 0.0
        self.is_plain = False  # true of a worker that runs models
        self.awake = is_worth_it()
        self._patience = self._crowding = 0
        self._theirs: list[int] = []
        with above_standard(), contextlib.ExitStack() as undo:
            undo.callback(close_all, self._theirs)
            self._make(undo, raw)
            undo.pop_all()
        self._inlet = wire.FrameReader()
        self._outbox = Outbox(lambda descriptor: wire.send_descriptor(self._rights, descriptor))
        self._packer = FramePacker(self._outbox, self._outgoing, self._rouse)
        # Copies what the frame that was just sent speaks of, if it was sent before that.
        self.copy_late = self._packer.copy_late
        self._inbox: Inbox | SegmentReader = Inbox(lambda: wire.receive_descriptor(self._rights))
        # The answer first: see `_hear`.
        self._poll = operating_system.poll(self._talk.fileno(), *self.output.ends())

    def _make(self, undo: contextlib.ExitStack, raw: bool) -> None:
        self._talk, talk = socket.socketpair()
        self._theirs.append(talk.detach())
        undo.callback(self._talk.close)
        self._rights, rights = socket.socketpair()
        self._theirs.append(rights.detach())
        undo.callback(self._rights.close)
        out, their_out = os.pipe()
        self._theirs.append(their_out)
        undo.callback(os.close, out)
        errors, their_errors = os.pipe()
        self._theirs.append(their_errors)
        undo.callback(os.close, errors)
        self._faults = log_file("outlive-faults")
        undo.callback(os.close, self._faults)
        self._theirs.append(operating_system.new_segment(BLOCK_BYTES))
        self._block = mmap.mmap(self._theirs[-1], BLOCK_BYTES)
        self._outgoing = Lane(self._block, 0, self.awake)
        self._incoming = Lane(self._block, 1, self.awake)
        self.output = WorkerOutput(out, errors, raw=raw)
        for end in (self._talk, self._rights):
            end.setblocking(False)

    def be_plain(self) -> None:
        """From here on, before the first call, nothing that the worker says is mapped or believed."""
        self._inlet.most_head_bytes = wire.MOST_PLAIN_HEAD_BYTES
        self._inbox = SegmentReader(lambda: wire.receive_descriptor(self._rights))
        self.is_plain = True

    def given(self, stdin: int) -> list[int]:
        """What the worker gets, in the order of `NAMES`."""
        talk, rights, out, errors, block = self._theirs
        return [talk, rights, out, errors, self._faults, block, *([stdin] if stdin >= 0 else [])]

    def handed_over(self) -> None:
        """The worker has its ends, or never will: close them here, or its end would not be seen."""
        close_all(self._theirs)

    @property
    def closed(self) -> bool:
        """True once all is given back."""
        return self._faults < 0

    def fault_trace(self) -> str:
        """What the worker's faulthandler wrote."""
        return tail_of(self._faults)

    def forget_stack(self) -> None:
        """Drop what was written there: it is not of this moment."""
        os.ftruncate(self._faults, 0)

    def is_alive(self) -> bool:
        """False if the worker is seen to have ended; costs a microsecond."""
        if self.closed:
            return False
        return not any(
            event & ~READABLE for end, event in operating_system.wait(self._poll, 0) if self._is_talk(end)
        )

    def _is_talk(self, end: int) -> bool:
        return end == self._talk.fileno()

    @property
    def took_all(self) -> bool:
        """True if the worker has received everything that was sent; false of one that was dead by then."""
        return self._outgoing.was_taken

    def send(self, data: bytes, deadline: float | None = None) -> None:
        """Send frames; `Closed` if the worker is gone, `DeadlineMissed` if it does not take them."""
        way = self._outgoing.post(data)
        if way == DONE:
            return
        if way == WAKE:
            data = wire.WAKE_UP
            self._outgoing.note_woken(len(data))
        else:
            self._outgoing.note_sent(len(data))
        self._send_all(data, deadline)

    def _send_all(self, data: bytes, deadline: float | None = None) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[self._talk.send(view, wire.NO_SIGNAL) :]
            except BlockingIOError:
                _check_time(deadline)
                self._look_for_end()
                can_write = operating_system.poll(self._talk.fileno(), events=WRITABLE)
                operating_system.wait(can_write, _LATER_SLEEP_MS)
                self._read_output(operating_system.wait(self._poll, 0))
            except OSError as error:
                raise wire.Closed(str(error)) from None

    def receive(self, deadline: float | None) -> wire.Frame:
        """The next frame that is an answer; `Closed`, or `DeadlineMissed`."""
        pause_ms = _FIRST_SLEEP_MS
        if self.awake:
            self._watch_for_answer()
        while True:
            frame = self._inlet.take()
            if frame is None:
                if not self._hear(deadline, pause_ms):
                    pause_ms = _LATER_SLEEP_MS
                    self._nap()
                continue
            if frame.freed:
                self._outbox.freed(frame.freed)
            if frame.kind not in _AMID:
                return frame
            _check_time(deadline)  # they may come without end
            if frame.kind == wire.ASK:
                return frame
            body, _ = self.open_frame(frame)
            deliver_log(body, self.is_plain)

    def _look_for_end(self) -> None:
        """`Closed` if the worker has ended, which its socket does not say while a child of it holds it."""
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + _LOOK_S
            # What it said last is there by the time its end is known.
            if self._is_gone() and not self._incoming.is_waiting and not self._is_readable():
                raise wire.Closed("the process is gone")

    def _is_readable(self) -> bool:
        return any(self._is_talk(end) for end, _ in operating_system.wait(self._poll, 0))

    def _watch_for_answer(self) -> None:
        """Wait awake for an answer, unless the last one took longer than that is worth."""
        lane = self._incoming
        if self._patience:
            # The worker found no core to answer on: to wait awake takes it from those who have work.
            self._patience -= 1
            data = lane.fall_asleep()
        elif lane.took_ns > _SPIN_NS:
            data = self._doze(lane.took_ns)
        else:
            data = lane.watch(_SPIN_NS)
            self._crowding = self._crowding // 2 if data else self._crowding + 4
            if self._crowding > _CROWDED:
                self._patience, self._crowding = _PATIENCE, 0
        data = data or lane.fall_asleep()
        if data:
            self._read_output(
                operating_system.wait(self._poll, 0)
            )  # what was printed before the answer is there by now
            self._inlet.feed(data)

    def _doze(self, took_ns: int) -> bytes:
        """Sleep through most of a call of some milliseconds, and be awake at its end.

        To be woken takes longer than a nap's end, and takes the worker's time too.
        """
        lane = self._incoming
        if took_ns > _LONGEST_DOZE_NS:
            return lane.fall_asleep()
        time.sleep(max(0, took_ns * 3 // 4 - _LATE_NS) * 1e-9)
        return lane.watch(took_ns // 2)

    def _hear(self, deadline: float | None, pause_ms: float) -> bool:
        """Wait for something and take it; False if nothing came.

        The kernel looks at the descriptors in their order. The worker writes its answer last, so that where
        an answer is seen, all output that came before it is seen too.
        """
        if deadline is not None:
            left = (deadline - time.monotonic()) * 1000
            if left <= 0:
                raise DeadlineMissed
            pause_ms = min(pause_ms, left + 1)
        events = operating_system.wait(self._poll, pause_ms)
        if not events or not self._is_talk(events[0][0]):
            self._look_for_end()
        if events is operating_system.BLIND:
            self._look_at_all()
        if not events:
            return self._look_into_slot()
        if len(events) > 1 or not self._is_talk(events[0][0]):
            self._read_output(events)
        if self._is_talk(events[0][0]):
            self._take_answer()
        return True

    def _look_at_all(self) -> None:
        """Read what came although nothing says so, or who waits without a deadline would do so for ever."""
        self._read_output([(end, 0) for end in self.output.ends()])
        self._take_answer()

    def _look_into_slot(self) -> bool:
        """What came while we fell asleep, unheard: stores and loads may pass each other on their way."""
        data = self._incoming.take()
        if data:
            self._read_output(operating_system.wait(self._poll, 0))
            self._inlet.feed(data)
        return bool(data)

    def _take_answer(self) -> None:
        try:
            data = self._talk.recv(wire.MOST_AT_ONCE)
        except BlockingIOError:
            return
        except OSError as error:
            raise wire.Closed(str(error)) from None
        earlier = self._incoming.take()
        self._incoming.note_heard(len(data))
        if not data and not earlier:
            raise wire.Closed("end of stream")
        if data == wire.WAKE_UP and not earlier and self.awake:
            earlier = self._incoming.watch(ROUSED_NS) or self._incoming.fall_asleep()
        if earlier:
            self._read_output(operating_system.wait(self._poll, 0))
        self._inlet.feed(earlier + data)

    def _read_output(self, events: list[tuple[int, int]]) -> None:
        for end, _ in events:
            if self._is_talk(end):
                continue
            try:
                self.output.read(end)
            finally:  # an interrupt that came meanwhile is raised by it
                if not self.output.is_open(end):
                    self._poll.unregister(end)
        if self.output.failure:  # what it prints next would raise BrokenPipeError in the user's function
            raise wire.Closed(self.output.failure)

    def open_frame(self, frame: wire.Frame) -> tuple[Any, list[Any]]:
        """The body of a frame and the buffers beside it, in place."""
        try:
            inbox: Any = self._inbox
            leases = inbox.leases(frame.segment, frame.size, frame.spans) if frame.segment else []
            if frame.dropped:
                inbox.drop(frame.dropped)
            if frame.body or self.is_plain:
                return frame.body or leases.pop(), leases
            return bytes(leases.pop()), leases
        except (ValueError, OSError, IndexError, TypeError, OverflowError) as error:
            raise wire.Malformed(f"a frame that promises what is not there: {error}") from None

    def pack(self, kind: int, facts: Any, body: bytes, apart: list[memoryview], late: bool = False) -> bytes:
        """A frame; what is large goes to shared memory, if it may be `late` after the frame is sent."""
        try:
            return self._packer.pack(kind, facts, body, apart, self._inbox.take_freed, late)
        except OSError as error:
            raise CannotStartWorker(f"no memory can be shared with a worker: {in_words(error)}") from error

    def await_copy(self, frame: wire.Frame, deadline: float | None) -> None:
        """Wait until what a late frame speaks of is there; `Closed`, or `DeadlineMissed`."""
        while not self._incoming.sees_copy(frame.late, ROUSED_NS):
            if not self.is_alive() and not self._incoming.sees_copy(frame.late, 0):
                raise wire.Closed("it ended while it copied a result")
            _check_time(deadline)
            self._look_for_end()
            time.sleep(_NAP_S)

    def _rouse(self) -> None:
        self._outgoing.note_sent(len(wire.WAKE_UP))
        self._send_all(wire.WAKE_UP)

    def part(self) -> None:
        """In a forked child of the program: results that lie in shared memory become our own."""
        for mapping in self._inbox.mappings():
            operating_system.make_private(mapping)

    def close(self) -> None:
        """Give all back; arrays over the shared memory stay as they are."""
        if self.closed:
            return
        self._talk.close()
        self._rights.close()
        self.output.close()
        if isinstance(self._inbox, SegmentReader):
            self._inbox.close()
        os.close(self._faults)
        self._faults = -1
        # Not left to the garbage collector: an error that is kept keeps what it came from.
        self._outgoing.close()
        self._incoming.close()
        self._block.close()


def _check_time(deadline: float | None) -> None:
    if deadline is not None and time.monotonic() > deadline:
        raise DeadlineMissed


def _most_bytes(wanted: int) -> int:
    available = None if wanted < _LITTLE_BYTES else read_machine().available_bytes
    return _MOST_BYTES if available is None else min(_MOST_BYTES, available)


def _read(descriptor: int, offset: int, length: int) -> bytearray:
    held = bytearray(length)
    view, done = memoryview(held), 0
    while done < length:
        count = operating_system.read_into(descriptor, view[done:], offset + done)
        if not count:
            raise ValueError(f"a segment that ends after {offset + done} bytes")
        done += count
    return held
