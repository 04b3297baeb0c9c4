"""A guarded worker as its caller sees it: frames there and back, its output, and the record of its end."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from dataclasses import replace
from typing import Any, cast

from outlive.guarding.connection import NAMES, GuardConnection
from outlive.guarding.worker_errors import ends_with_variables, take_variables
from outlive.meter import MemoryProbe, Sample, open_probe, read_machine, stands_still, watch_activity
from outlive.meter.gpu import GpuMeter, watch_gpu
from outlive.process.child.guard import message_frames as wire
from outlive.process.child.guard.variables import LOOK
from outlive.process.factories import with_factory
from outlive.process.flight import Flight, StageSeconds
from outlive.process.flight_recorder import FlightRecorder, LastWords, MemoryHistory
from outlive.process.limits import DeadlineMissed, Limits
from outlive.process.operating_system import starting
from outlive.process.worker_factory import NO_RUNTIME, CannotStartWorker, WorkerFactory, WorkerKind, in_words

_ENDING_TIMEOUT_S = 5.0
_START_TIMEOUT_S = 120.0
_MOMENT_S = 0.001
# How often to look whether a worker that starts was stopped, and how often it may stand still then.
_LOOK_S, _MOST_LOOKS = 1.0, 3
# A worker without a call for so long ends by itself: one with TensorFlow holds hundreds of megabytes.
IDLE_S = 600.0
# Where a call stands is asked for from this share of its limit on, and again when it has added so much more.
_NEAR_SHARE, _LARGE_BYTES, _MORE = 0.5, 32 << 20, 1.25
_NO_SANDBOX = 'a function is the user\'s own code; sandbox="on" asks for one'


class GuardProcess:
    """One worker process, from its start to its end; one call at a time."""

    def __init__(
        self,
        *,
        stdin: int = -1,
        raw: bool = False,
        sandbox: str = "off",
        read: tuple[str, ...] = (),
        runtime: str = NO_RUNTIME,
    ) -> None:
        """Start it; `CannotStartWorker` if the system does not let us. It is not waited for.

        In a sandbox it may read what lies in the folders of `sys.path`, and `read`. With a `runtime` it is
        forked from the process that has it loaded, where there is one.
        """
        self.runtime = runtime
        self.owner = os.getpid()
        self.flight: Flight | None = None
        self.calls = 0
        self.was_idle = False  # true of one that has waited for a call: it may leave just as one comes
        self.is_plain = False  # true of one that runs models, and nothing else
        # Private memory, resident memory, and what RLIMIT_DATA counts, as of its last answer.
        self.sizes: tuple[Any, ...] = (0, 0, 0)
        self.first_bytes = 0
        self.allowed_bytes: int | None = None
        self.state_version = self.random_version = 0
        self.watched: tuple[int, int] | None = None
        self.functions: dict[int, None] = {}  # by number, as the worker keeps them: oldest first
        self.preloading = False
        self.preloaded: tuple[str, ...] = ()
        self.stage = "start"
        self.doing: dict[str, str] = {}  # {"script": its name}, {"cell": its name}; empty for a function
        self._history: MemoryHistory | None = None
        self.applied: dict[str, Any] = {}
        self.sandbox, self._read = sandbox, read
        self._is_ready = False
        self._probe: MemoryProbe | None = None
        self._noted_bytes = 0  # what this call had added when its stack was last asked for
        self._gpu: GpuMeter | None = None
        self._recorder = FlightRecorder(Limits())
        self._factory: WorkerFactory
        kind = WorkerKind(runtime=runtime, python=sys.executable)
        with_factory(kind, lambda maker: self._open(maker, stdin, raw))
        wires = self._connection
        self.output, self.send, self.receive = wires.output, wires.send, wires.receive
        self.pack, self.open_frame = wires.pack, wires.open_frame
        self.copy_late, self.await_copy = wires.copy_late, wires.await_copy

    def be_plain(self) -> None:
        """It will run models: from its first call on, nothing that it says is unpickled or mapped."""
        if not self.is_plain:
            assert not self.calls, "a worker that has run something else cannot be trusted"
            self._connection.be_plain()
            self.is_plain = True

    def _is_gone(self) -> bool:
        return self._factory.is_gone(self._started.number)

    def _open(self, factory: WorkerFactory, stdin: int, raw: bool) -> None:
        self._factory = factory
        with contextlib.ExitStack() as locked:
            locked.enter_context(starting)
            try:
                self._connection = wires = GuardConnection(self._sample, self._is_gone, raw=raw)
            except OSError as error:
                raise CannotStartWorker(f"nothing can be opened here: {in_words(error)}") from error

            def handed_over() -> None:
                wires.handed_over()
                locked.close()

            try:
                self._started = factory.start_worker(self._order(), wires.given(stdin), handed_over)
            except BaseException:
                wires.handed_over()
                wires.close()
                raise

    def _order(self) -> dict[str, Any]:
        places = [entry for entry in sys.path if entry and isinstance(entry, str)]
        return {
            "program": "guard.guard_main",
            "names": NAMES,
            "sys_path": places,
            "sandbox": {"off": _NO_SANDBOX} if self.sandbox == "off" else {"read": [*places, *self._read]},
            "awake": self._connection.awake,
            "idle_s": IDLE_S,
            # What the function may well need; loaded before the call, and no part of its memory.
            "modules": [name for name in ("numpy", "numpy.random") if name in sys.modules],
            "limits": {},
        }

    @property
    def pid(self) -> int:
        """The worker's process."""
        return self._started.pid

    @property
    def closed(self) -> bool:
        """True once its sockets and files are given back."""
        return self._connection.closed

    def is_alive(self) -> bool:
        """False if it is seen to have ended; costs a microsecond."""
        return self._connection.is_alive()

    @property
    def took_all(self) -> bool:
        """True if it has received everything that was sent; false of one that was dead by then."""
        return self._connection.took_all

    def has_loaded(self) -> bool:
        """False while it imports what its calls will need."""
        if self.preloading:
            with contextlib.suppress(DeadlineMissed, wire.Closed):
                self.greet(_MOMENT_S)
        return not self.preloading

    def greet(self, timeout_s: float = _START_TIMEOUT_S) -> None:
        """Wait until it is ready for its first call; `Closed`, or `DeadlineMissed`."""
        while not self._is_ready or self.preloading:
            frame = self._first_words(time.monotonic() + timeout_s)
            if frame.kind == wire.READY:
                self.applied, self.sizes = read_applied(frame.rest), frame.facts
                self._is_ready = True
                self.first_bytes = self.held_bytes
                self._gpu = watch_gpu(self.pid)
            elif frame.kind == wire.PRELOADED:
                self.preloading = self.output.muted = False
                self.sizes = frame.facts
                self.first_bytes = self.held_bytes
        self.stage = "idle"

    def _first_words(self, end: float) -> wire.Frame:
        """The next frame; `DeadlineMissed` also if it was stopped while it started, and stays so."""
        still = 0
        while True:
            look = min(end, time.monotonic() + _LOOK_S)
            try:
                return self.receive(look)
            except DeadlineMissed:
                # Its tracer stops it too, for some milliseconds; if that is stopped itself, for ever.
                still = still + 1 if stands_still(self.pid) else 0
                if look == end or still == _MOST_LOOKS:
                    raise

    @property
    def held_bytes(self) -> int:
        """The private memory it held after its last answer."""
        return int(self.sizes[0])

    def measure(self) -> None:
        """What it holds after an answer, as the system says: one that runs models is not believed."""
        seen = self._look()
        if seen is not None:
            self.sizes = (seen.private_bytes, seen.rss_bytes, self.sizes[2])

    def _look(self) -> Sample | None:
        if self._probe is None:
            self._probe = open_probe(self.pid)
        return self._probe.read_cheap()

    def begin_call(self) -> None:
        """What comes from now on belongs to a new call."""
        self.stage = "call"
        self.calls += 1
        self._history = None
        if self._noted_bytes:
            self._noted_bytes = 0
            self._connection.forget_stack()
        self.output.forget()

    @property
    def history(self) -> MemoryHistory:
        """The memory of this call: what the worker held before it, and what was seen since."""
        if self._history is None:
            self._history = MemoryHistory()
            self._history.begin({"private_bytes": self.sizes[0], "rss_bytes": self.sizes[1]})
        return self._history

    def preload(self, names: tuple[str, ...]) -> None:
        """Have it import something before its first call; what that prints is not shown."""
        self.preloading = self.output.muted = True
        self.preloaded = names
        self.send(wire.pack(wire.PRELOAD, rest=json.dumps(names).encode("ascii")))

    def note_function(self, number: int, replaced: int) -> None:
        """The worker has a new function, in the place of another, and drops its oldest as we do."""
        self.functions.pop(replaced, None)
        self.functions[number] = None
        if len(self.functions) > wire.MOST_FUNCTIONS:
            del self.functions[next(iter(self.functions))]

    def watch(self, memory_bytes: int | None) -> None:
        """Have it ended when it holds more than it does now and this much."""
        most = None if memory_bytes is None else self.held_bytes + memory_bytes
        self._factory.watch(self._started.number, most)

    def _sample(self) -> None:
        """Note how much memory it holds now."""
        if self.stage != "call":
            return
        seen = self._look()
        if seen is None:
            # Its end was not heard: a process that it forked, and that left its group, holds the socket.
            raise wire.Closed("the process is gone")
        on_gpu = None if self._gpu is None else self._gpu.read()
        memory = {"private_bytes": seen.private_bytes, "rss_bytes": seen.rss_bytes}
        self.history.mark("", memory if on_gpu is None else {**memory, "gpu_bytes": on_gpu})
        self._note_stack(seen.private_bytes - self.history.baseline_bytes)

    def _note_stack(self, added_bytes: int) -> None:
        """Have it write its Python stack as it nears its limit: who is killed there has no time for that."""
        if LOOK is None or added_bytes < max(_LARGE_BYTES, _MORE * self._noted_bytes):
            return
        # Before it has told all, another signal would interrupt calls of the system in native code.
        if self._noted_bytes and not ends_with_variables(self._connection.fault_trace()):
            return
        rooms = (self.allowed_bytes, read_machine().usable_bytes())
        if added_bytes > _NEAR_SHARE * min((room for room in rooms if room is not None), default=added_bytes):
            self._noted_bytes = added_bytes
            with contextlib.suppress(OSError):
                os.kill(self.pid, LOOK)

    def interrupt(self) -> None:
        """Do to it what Ctrl-C does."""
        self._factory.interrupt(self._started.number)

    def record(self, ended_by: str, limits: Limits) -> Flight:
        """End it, if it has not ended, show what it printed, and write down all that is known of the end."""
        activity: dict[str, Any] = {}
        try:
            if ended_by == "deadline":
                activity = watch_activity(self.pid)
                self._factory.abort(self._started.number)  # where it was is what its owner wants to know
            else:
                self._factory.kill(self._started.number)
            ending = self._factory.ending(self._started.number, _ENDING_TIMEOUT_S)
            if self.preloading:
                self.output.muted = False  # its last words, if it never came to a call
            with contextlib.suppress(OSError):
                self.output.finish()
            trace, variables = take_variables(self._connection.fault_trace())
            words = LastWords(stage=self.stage, stderr_tail=self.output.tail(), fault_trace=trace)
            flight = self._recorder.flight(
                ended_by=ended_by,
                ending=ending,
                started=self._started,
                words=words,
                history=self.history,
                applied=self._limits(limits),
                facts=self.facts(),
                activity=activity,
            )
            self.flight = replace(flight, variables=variables)
        finally:
            self.close()
        return self.flight

    def seen(self, limits: Limits) -> Flight:
        """The record of a call that came to its end; before the worker is given to another."""
        return Flight(
            died=False,
            stage="done",
            peak_bytes=self.history.peak({}),
            baseline_bytes=self.history.baseline_bytes,
            timeline=self.history.points(),
            stages=(StageSeconds("call", self.history.seconds()),),
            stderr_tail=self.output.tail(),
            limits={**self.applied, **limits.to_json()},
            runtime=self.facts(),
            pid=self.pid,
        )

    def _limits(self, limits: Limits) -> dict[str, Any]:
        known = {**self.applied, **limits.to_json()}
        if limits.memory_bytes is not None and self.sizes[2]:
            known["data_bytes"] = self.sizes[2] + limits.memory_bytes
        return known

    def facts(self) -> dict[str, Any]:
        """What it runs on."""
        gpu = {} if self._gpu is None else {"gpu": self._gpu.to_json()}
        return {
            "runtime": NO_RUNTIME,
            "version": sys.version.split()[0],
            "calls": self.calls,
            **self.doing,
            **gpu,
        }

    def retire(self) -> None:
        """Let it end by itself, with its farewells; it is not waited for."""
        if self.closed or self.owner != os.getpid():
            return
        with contextlib.suppress(wire.Closed):
            self.send(wire.pack(wire.STOP))
        self._factory.retire(self._started.number)
        self.close()

    def end(self) -> None:
        """End it without a word, if it is ours."""
        if self.closed or self.owner != os.getpid():
            return
        try:
            self._factory.kill(self._started.number)
            self._factory.ending(self._started.number, _ENDING_TIMEOUT_S)
        finally:
            self.close()

    def part(self) -> None:
        """In a forked child of the program: the worker is the parent's, its results here are our own."""
        self._connection.part()
        self.close()

    def close(self) -> None:
        """Give back sockets, pipes and files; arrays over its memory stay as they are."""
        self._connection.close()
        if self._probe is not None:
            self._probe.close()


def read_applied(text: bytes) -> dict[str, Any]:
    """Which limits a worker has set, by its own word: names, with numbers or words; and its sandbox."""
    try:
        found = json.loads(text.decode("ascii"))
        sandbox = found.get("sandbox", {}).values()
        limits = [value for name, value in found.items() if name != "sandbox"]
    except (ValueError, AttributeError, RecursionError):
        raise wire.Malformed("limits that cannot be read") from None
    if not all(isinstance(one, str) for one in sandbox) or not all(
        isinstance(one, (str, int)) for one in limits
    ):
        raise wire.Malformed("limits that are none")
    return cast(dict[str, Any], found)
