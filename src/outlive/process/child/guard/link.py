"""The worker's end of the conversation with its caller."""

from __future__ import annotations

import json
import mmap
import socket
import threading
import time
from typing import Any

from ..operating_system import own_process
from . import forks, pickling, segments
from . import message_frames as wire
from .lane import DONE, ROUSED_NS, WAKE, Lane

# How long a worker stays awake after a call, waiting for the next one of a burst.
_SPIN_NS, _LONGEST_SPIN_NS = 120_000, 1_000_000
_FIRST_SLEEP_MS = 50
_NAP_S = 0.0005
# Of each text of a log record that goes in JSON, where a character takes 12 bytes at most.
_MOST_LOGGED = 14_000


class Link:
    """Sends and receives frames; any thread of the function may send, and ask for an item."""

    def __init__(self, talk: socket.socket, rights: socket.socket, block: mmap.mmap, awake: bool) -> None:
        """Take over both sockets and the slots; `awake` says whether to wait awake at all."""
        self._talk = talk
        self._incoming, self._outgoing = Lane(block, 0, awake), Lane(block, 1, awake)
        self._spin_ns = _SPIN_NS if awake else 0
        self._poll = own_process.input_poll(talk.fileno())
        self._inlet = wire.FrameReader()
        self._sending = threading.RLock()
        self._asking = threading.Lock()
        self._outbox = segments.Outbox(lambda descriptor: wire.send_descriptor(rights, descriptor))
        self._packer = segments.FramePacker(self._outbox, self._outgoing, self._rouse)
        self._inbox = segments.Inbox(lambda: wire.receive_descriptor(rights))
        self._began_ns = 0
        self.is_plain = False  # whether the caller unpickles nothing of what we say
        self._running = 0  # the call whose iterators may be asked

    def receive(self, idle_s: float = 0.0) -> wire.Frame | None:
        """The next frame. `Closed` when the caller is gone; None after `idle_s` of silence, unless 0."""
        while True:
            frame = self._inlet.take()
            if frame is not None:
                if frame.freed:
                    self._outbox.freed(frame.freed)
                self._began_ns = time.perf_counter_ns()
                return frame
            data = self._hear(idle_s)
            if data is None:
                return None
            self._inlet.feed(data)

    def _hear(self, idle_s: float) -> bytes | None:
        """What comes next: awake for a moment, then asleep; None if nothing comes for so long."""
        lane = self._incoming
        if self._spin_ns:
            # A long call is followed by a longer pause: large results take their owner time.
            rest = min((time.perf_counter_ns() - self._began_ns) // 8, _LONGEST_SPIN_NS)
            data = lane.watch(max(self._spin_ns, rest)) or lane.fall_asleep()
            if data:
                return data
            # A sleeper may have missed what came while it fell asleep: the first sleep is short.
            if not self._wait(_FIRST_SLEEP_MS):
                data = lane.take()
                if data:
                    return data
        if idle_s and not self._wait(idle_s * 1000):
            return None
        try:
            data = self._talk.recv(wire.MOST_AT_ONCE)
        except OSError as error:
            raise wire.Closed(str(error)) from None
        if not data:
            raise wire.Closed("end of stream")
        earlier = lane.take()
        lane.note_heard(len(data))
        if self._spin_ns and not earlier and data == wire.WAKE_UP:
            return lane.watch(ROUSED_NS)
        return earlier + data

    def _wait(self, timeout_ms: float) -> bool:
        try:
            return bool(self._poll.poll(timeout_ms))
        except OSError as error:
            raise wire.Closed(str(error)) from None  # an OSError would be taken for one of the function

    def unpack(self, frame: wire.Frame, found: Any = None) -> Any:
        """The value that a frame carries."""
        body, leases = self._open(frame)
        return pickling.loads(body, leases, found)

    def body(self, frame: wire.Frame) -> bytes:
        """The bytes that a frame carries, and nothing apart from them."""
        return bytes(self._open(frame)[0])

    def _open(self, frame: wire.Frame) -> tuple[Any, list[Any]]:
        try:
            leases = self._inbox.leases(frame.segment, frame.size, frame.spans) if frame.segment else []
        except (OSError, wire.Malformed) as error:
            # The system has no room for it: an OSError would be taken for one of the function.
            raise MemoryError("what the caller sent cannot be mapped: %s" % error) from None
        if frame.dropped:
            self._inbox.drop(frame.dropped)
        return (frame.body or leases.pop()), leases

    def await_copy(self, frame: wire.Frame) -> None:
        """Wait until what a late frame speaks of is there; then the call begins."""
        while not self._incoming.sees_copy(frame.late, ROUSED_NS):
            time.sleep(_NAP_S)  # the caller has no core to copy on; if it is gone, so are we
        self._began_ns = time.perf_counter_ns()

    def send(
        self,
        kind: int,
        facts: Any = (),
        body: bytes = b"",
        apart: Any = (),
        late: bool = False,
        rest: bytes = b"",
    ) -> None:
        """Send a frame; `apart` are buffers that go through shared memory, `late` after the frame."""
        with self._sending:
            self._write(self._packer.pack(kind, facts, body, [*apart], self._inbox.take_freed, late, rest))
            self._packer.copy_late()

    def _rouse(self) -> None:
        self._outgoing.note_sent(len(wire.WAKE_UP))
        self._send_all(wire.WAKE_UP)

    def _write(self, data: bytes) -> None:
        self._outgoing.note_took(time.perf_counter_ns() - self._began_ns)
        way = self._outgoing.post(data)
        if way == DONE:
            return
        data = wire.WAKE_UP if way == WAKE else data
        self._outgoing.note_sent(len(data))
        self._send_all(data)

    def _send_all(self, data: bytes) -> None:
        try:
            self._talk.sendall(data, wire.NO_SIGNAL)
        except OSError as error:
            raise wire.Closed(str(error)) from None

    def log(self, record: Any) -> None:
        """Send a log record."""
        if forks.ForkState.is_fork:
            forks.show_log(record)
            return
        if self.is_plain:  # its caller takes no more than fits
            record = [part[:_MOST_LOGGED] if isinstance(part, str) else part for part in record]
        self.send(wire.LOG, (), json.dumps(record).encode("ascii"))

    def begin(self, call: int) -> None:
        """From now on the iterators of this call may be asked; 0 for none."""
        self._running = call

    def ask(self, call: int, number: int) -> Any:
        """The next item of an iterator that stayed with the caller; StopIteration at its end."""
        with self._asking:
            if call != self._running:
                raise RuntimeError("this iterator belongs to a guarded call that has ended")
            if forks.ForkState.is_fork:
                raise RuntimeError("this iterator's items go to the guarded function, not to what it forked")
            self.send(wire.ASK, (number,))
            frame = self.receive()
            assert frame is not None  # it waits as long as it takes
            if frame.kind == wire.NO_MORE:
                raise StopIteration
            value = self.unpack(frame)
            if frame.kind == wire.ITEM_RAISED:
                raise value
            return value


class CallersIterator:
    """An iterator that was given as an argument: its items are made by the caller, when asked for."""

    def __init__(self, link: Link, call: int, number: int) -> None:
        """Remember whose it is."""
        self._link, self._call, self._number = link, call, number

    def __iter__(self) -> CallersIterator:
        """Itself."""
        return self

    def __next__(self) -> Any:
        """The next item, from the caller."""
        return self._link.ask(self._call, self._number)
