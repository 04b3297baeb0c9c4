"""One model in one worker: opened, allocated, run; opened again in a new worker where that is wanted.

Keeps what a new worker needs to stand where the old one stood: how the model was opened, which inputs were
resized, whether tensors were allocated, and the inputs themselves. What variables held is lost with a worker.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.errors import RunError
from outlive.interpreter import details
from outlive.interpreter.judge import Judge
from outlive.meter import read_machine
from outlive.process import answers
from outlive.process import sandbox_policy as sandbox
from outlive.process.factories import with_factory
from outlive.process.flight import Flight
from outlive.process.limits import Limits
from outlive.process.operating_system import lay_out
from outlive.process.worker import Died, RuntimeRaised, Worker
from outlive.process.worker_factory import CannotStart, RuntimeAbsent, StartTooSlow, WorkerFactory, WorkerKind
from outlive.units import format_bytes

# Questions to a worker that are part of a stage of another name.
_STAGES = {"open": "load", "resize": "set", "share": "allocate", "call": "invoke", "details": "get"}
# A shared block beyond this is made only if it leaves room for everything else.
_LARGE_BYTES = 256 << 20
# `seconds` is how long a model may take; starting a process of ours gets at least this much.
_LEAST_START_S = 5.0
# Values of tensors up to this come with the answer, larger ones in parts.
_INLINE_BYTES, _PART_BYTES = 1 << 20, 32 << 20
# Details of a model take this and 32 bytes for each of its file, and never more than half a gigabyte.
_LEAST_DETAILS, _MOST_DETAILS = 1 << 20, 512 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """How to open the model: everything a worker is told at its start, and who judges what becomes of it."""

    judge: Judge
    kind: WorkerKind
    limits: Limits
    arguments: dict[str, Any]
    content: bytes | None
    delegates: tuple[tuple[str, dict[str, str]], ...] = ()
    custom_ops: tuple[str, ...] | None = None
    watch: Callable[[int], None] | None = None
    compiled: dict[str, Any] | None = None
    sandbox: str = "auto"

    @property
    def source(self) -> str | bytes:
        """The model itself: its path, or its bytes."""
        return self.content if self.content is not None else str(self.arguments.get("model_path", ""))

    @property
    def threads(self) -> int | None:
        """How many threads it was given; None if nobody said."""
        options = (self.compiled or {}).get("options", {}).get("cpu_options", {})
        threads: int | None = self.arguments.get("num_threads") or options.get("num_threads")
        return threads


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """An input or output; `offset` is its place in the shared block, None if it has none."""

    index: int
    dtype: str
    shape: tuple[int, ...]
    size: int
    offset: int | None
    constant: bool = False


class Session:
    """The worker of an interpreter, replaced when it is gone and that is wanted."""

    def __init__(self, opening: Opening) -> None:
        """Start a worker and load the model in it."""
        self._opening = opening
        self._resized: dict[int, tuple[list[int], bool | None]] = {}
        self._last_death: RunError | None = None
        self._folder = _folder()
        self.allocated = False
        self.moving = False
        self.overlaid_bytes = 0
        self.inputs: tuple[End, ...] = ()
        self.outputs: tuple[End, ...] = ()
        self.owner = os.getpid()
        self.worker: Worker
        self.flight: Flight | None = None
        self.open()

    def open(self) -> None:
        """Start a new worker and load the model."""
        opening = self._opening
        self.owner = os.getpid()
        self.worker = self._start()
        header: dict[str, Any] = {
            "do": "open",
            "arguments": self._arguments(),
            "memory": True,
            "mark": "load",
        }
        if opening.delegates:
            header["delegates"] = [list(pair) for pair in opening.delegates]
        if opening.custom_ops is not None:
            header["custom_op_registerers"] = list(opening.custom_ops)
        if opening.compiled is not None:
            header["compiled"] = opening.compiled
        try:
            if opening.sandbox == "on" and not sandbox.is_whole(self.worker.applied_limits):
                raise opening.judge.unsandboxed(self.worker.applied_limits)
            if opening.watch is not None:
                opening.watch(self.worker.pid)
            self.ask(header)
        except BaseException:
            # Only an open session has an owner that closes it: what fails here gives its worker back here.
            self.worker.kill()
            raise

    def _start(self) -> Worker:
        """A worker that is ready to load the model."""
        opening = self._opening
        seconds = opening.limits.seconds
        deadline = None if seconds is None else time.monotonic() + max(seconds, _LEAST_START_S)
        runtime, limits, content = opening.kind.runtime, opening.limits, opening.content
        path, extras = self._arguments().get("model_path"), (opening.custom_ops, opening.compiled)
        room = {"threads": opening.threads, "mapped_bytes": _file_bytes(path)}
        order = sandbox.make_order(opening.sandbox, opening.kind, path, opening.delegates, *extras)

        def start(maker: WorkerFactory) -> Worker:
            return Worker(maker, runtime, limits, content, deadline, order, room)

        try:
            return with_factory(opening.kind, start, deadline)
        except RuntimeAbsent as error:
            raise opening.judge.missing("absence", str(error)) from None
        except Died as error:
            raise self.death(error.flight) from None
        except StartTooSlow:
            late = Flight(died=True, stage="start", ended_by="deadline", limits=limits.to_json())
            raise self.death(late) from None
        except CannotStart as error:
            raise opening.judge.unavailable(str(error)) from error

    def _arguments(self) -> dict[str, Any]:
        """As they were given; a relative path still means the folder that was current then."""
        arguments = dict(self._opening.arguments)
        if "model_path" in arguments and _folder() != self._folder:
            arguments["model_path"] = os.path.join(self._folder, arguments["model_path"])
        return arguments

    def change(self, how: Callable[[Opening], Opening], allocated: bool = False) -> None:
        """Open the model otherwise from now on; `allocated` if its tensors are to be allocated again."""
        self.worker.kill()
        self._opening = how(self._opening)
        self.allocated = self.allocated or allocated

    def reopen(self) -> None:
        """Stand in a new worker where the old one stood."""
        self.flight = None
        self.open()
        try:
            for index, (shape, strict) in self._resized.items():
                self._resize(index, shape, strict)
            if self.allocated:
                self.allocate()
        except BaseException:
            self.worker.kill()
            raise

    def ask(self, header: dict[str, Any], payload: Any = b"", **how: Any) -> Any:
        """A question to the worker (see `Worker.call`); deaths and complaints are errors with findings."""
        try:
            return self.worker.call(header, payload, **how)
        except Died as error:
            raise self.death(error.flight) from None
        except RuntimeRaised as error:
            raise self._complaint(error, header["do"]) from None

    def ask_about(self, question: str, header: dict[str, Any]) -> Any:
        """A question about the model, whose answer has the form that `details` knows for it."""
        return self.ask(
            header, most_bytes=self._most_details(), read=lambda _, data: details.read(question, data)
        )

    def ask_values(self, header: dict[str, Any], count: int, payload: Sequence[Any] = ()) -> list[Any]:
        """A question whose answer is the values of so many tensors.

        Large ones come part by part, into the arrays that are handed out, so that they are here only once.
        """
        found: answers.Arrays | list[Any]
        found = self.ask(
            {**header, "large": _INLINE_BYTES},
            b"".join(payload),
            most_bytes=_INLINE_BYTES,
            read=lambda answer, data: (
                answers.counted(answer, count) if answer.held else answers.split(answer, count, data)
            ),
        )
        if isinstance(found, list):
            return found
        return [self._fetch(place, head, count) for place, head in enumerate(found.outputs)]

    def _fetch(self, place: int, head: answers.ArrayHead, count: int) -> Any:
        memory = _room_for(head.size)
        for start in range(0, head.size, _PART_BYTES):
            stop = min(start + _PART_BYTES, head.size)
            last = place == count - 1 and stop == head.size
            order = {"do": "part", "place": place, "start": start, "stop": stop, "last": last}
            self.ask(order, into=memory.data[start:stop])
        return answers.as_array(head, memory)

    def _most_details(self) -> int:
        """What an answer about the model may have: names and scales come from its file."""
        size = len(self._opening.content or b"") or _file_bytes(self._arguments().get("model_path"))
        return min(_LEAST_DETAILS + 32 * size, _MOST_DETAILS)

    def invoke(self, first: bool) -> bool:
        """Run the model; the first run after an allocation is measured. True if its outputs have moved."""
        try:
            if first:
                self.worker.call({"do": "invoke", "memory": True})
            else:
                self.worker.invoke()
        except Died as error:
            raise self.death(error.flight) from None
        except RuntimeRaised as error:
            if error.kind == "Moved":
                return True
            raise self._complaint(error, "invoke") from None
        return False

    def resize(self, index: int, shape: list[int], strict: bool | None) -> None:
        """Resize an input, and remember it."""
        self._resize(index, shape, strict)
        self._resized[index] = (shape, strict)
        self.inputs = self.outputs = ()

    def _resize(self, index: int, shape: list[int], strict: bool | None) -> None:
        header: dict[str, Any] = {"do": "resize", "index": index, "shape": shape}
        if strict is not None:
            header["strict"] = strict
        self.ask(header)

    def note_shapes(self, shapes: dict[int, list[int]]) -> None:
        """A signature has resized inputs of the main subgraph and allocated it."""
        self._resized.update({index: (shape, False) for index, shape in shapes.items()})
        self.allocated = True

    def allocate(self) -> None:
        """Allocate tensors, and tie inputs and outputs of fixed size to the shared block."""
        self.inputs = self.outputs = ()
        self._tie(self.ask({"do": "allocate", "memory": True}))
        self.allocated = True

    def lay_again(self) -> None:
        """Tie inputs and outputs to the block as they are now."""
        self.inputs = self.outputs = ()
        self._tie(self.ask({"do": "ends"}))

    def _tie(self, found: answers.Ends) -> None:
        # An input that is also an output has one place, as it has in the model.
        places: dict[int, int] = {}
        residues: dict[int, int | None] = {}
        for row in (*found.inputs, *found.outputs):
            places.setdefault(row.index, answers.size_of(row) if row.fixed else 0)
            residues.setdefault(row.index, row.residue)
        offsets, total = lay_out([(size, residues[index]) for index, size in places.items()])
        fits = self._grow(total)
        where = dict(zip(places, offsets, strict=True)) if fits else {}
        sides = {"inputs": found.inputs, "outputs": found.outputs}
        ends = {side: tuple(_end(row, places, where) for row in rows) for side, rows in sides.items()}
        table = {
            side: [[end.index, end.offset, end.size] for end in rows if end.offset is not None]
            for side, rows in ends.items()
        }
        shared: answers.Shared = self.ask({"do": "share", "size": total if fits else 0, **table})
        # A worker's own count is not believed beyond what there is.
        self.overlaid_bytes = min(shared.overlaid, total)
        self.inputs, self.outputs = ends["inputs"], ends["outputs"]
        self.moving = found.moving

    def _grow(self, total: int) -> bool:
        """Make room in the shared block; False if there is none, and tensors go through the pipe instead."""
        if total > _LARGE_BYTES:
            available = read_machine().available_bytes
            if available is not None and total > available // 2:
                return False
        try:
            self.worker.grow(total)
        except (OSError, ValueError, OverflowError):
            return False
        return True

    def death(self, flight: Flight) -> RunError:
        """The error for a death, judged with the model at hand; it is remembered."""
        opening = self._opening
        self.flight = seen = self._as_opened(flight)
        self._last_death = error = opening.judge.died(seen, opening.source)
        self.flight = error.flight
        return error

    def death_again(self) -> RunError:
        """The last death, for a caller who goes on as if nothing had happened."""
        last = self._last_death
        if last is None or last.flight is not self.flight:
            assert self.flight is not None
            return self.death(self.flight)
        return type(last)(last.finding, str(last), last.findings[1:], last.flight)

    def _as_opened(self, flight: Flight) -> Flight:
        """The record with what a plan of the model has to know: its kernels, threads and input shapes."""
        given = self._opening
        kernels = given.arguments.get("experimental_op_resolver_type", "AUTO")
        kernels = "other" if given.delegates or given.compiled else kernels
        known = {"kernels": kernels, "threads": given.arguments.get("num_threads")}
        runtime = {**flight.runtime, "opened": known}
        return given.judge.attached(replace(flight, resized=self._shapes(), runtime=runtime))

    def story(self) -> Flight:
        """The record of a worker that is still well."""
        worker = self.worker
        told = Flight(
            died=False,
            stage="idle",
            peak_bytes=worker.history.peak({}),
            baseline_bytes=worker.history.baseline_bytes,
            timeline=worker.history.points(),
            stderr_tail=worker.stderr_tail(),
            limits={**self._opening.limits.to_json(), **worker.applied_limits},
            runtime=worker.facts,
            pid=worker.pid,
            resized=self._shapes(),
        )
        return self._opening.judge.attached(told)

    def _shapes(self) -> dict[int, tuple[int, ...]]:
        return {index: tuple(shape) for index, (shape, _) in self._resized.items()}

    def _complaint(self, error: RuntimeRaised, stage: str) -> Exception:
        flight = replace(
            self.story(),
            stage=_STAGES.get(stage, stage),
            error_type=error.kind,
            error_text=error.text,
            last_memory={"data_bytes": error.data_bytes},
            machine=read_machine().known(),
        )
        return self._opening.judge.raised(error, self._as_opened(flight), self._opening.source)


def _room_for(size: int) -> NDArray[np.uint8]:
    """Room for a large tensor. MemoryError where it would not be real: the system would kill us to get it."""
    available = read_machine().available_bytes
    # Half of it: the program that asked, and everything else on the machine, want to live too.
    if available is not None and size > available // 2:
        raise MemoryError(
            f"a tensor of {format_bytes(size)}, and {format_bytes(available)} of memory are left"
        )
    return np.empty(size, np.uint8)


def _file_bytes(path: Any) -> int:
    try:
        return os.stat(path).st_size if path and os.path.isfile(path) else 0
    except OSError:  # whoever opens it says what is wrong with it
        return 0


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def _end(row: answers.EndRow, sizes: dict[int, int], places: dict[int, int]) -> End:
    size = sizes[row.index]
    return End(
        index=row.index,
        dtype=row.dtype,
        shape=row.shape,
        size=size,
        offset=places.get(row.index) if size else None,
        constant=row.constant,
    )
