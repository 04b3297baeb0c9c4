"""One model in one worker: opened, allocated, run; opened again in a new worker where that is wanted.

Keeps what a new worker needs to stand where the old one stood: how the model was opened, which inputs were
resized, whether tensors were allocated, and the inputs themselves. What variables held is lost with a worker.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from outlive.errors import RunError
from outlive.meter import read_machine
from outlive.worker import verdicts
from outlive.worker.block import lay_out
from outlive.worker.flight import Flight
from outlive.worker.handle import Died, RuntimeRaised, Worker
from outlive.worker.hatchery import CannotHatch, Kind, RuntimeAbsent
from outlive.worker.limits import Limits
from outlive.worker.nurseries import with_hatchery

# Words of a runtime that could not get memory; LiteRT's RuntimeError is often empty then.
_MEMORY_WORDS = ("memory", "alloc", "failed to create xnnpack runtime", "reshape runtime")
# A shared block beyond this is made only if it leaves room for everything else.
_LARGE_BYTES = 256 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """How to open the model: everything a worker is told at its start."""

    kind: Kind
    limits: Limits
    arguments: dict[str, Any]
    content: bytes | None
    delegates: tuple[tuple[str, dict[str, str]], ...] = ()
    custom_ops: tuple[str, ...] | None = None
    watch: Callable[[int], None] | None = None
    compiled: dict[str, Any] | None = None

    @property
    def source(self) -> str | bytes:
        """The model itself: its path, or its bytes."""
        return self.content if self.content is not None else str(self.arguments.get("model_path", ""))


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
        try:
            self.worker = with_hatchery(
                opening.kind,
                lambda maker: Worker(maker, opening.kind.runtime, opening.limits, opening.content),
            )
        except RuntimeAbsent as error:
            raise verdicts.missing(str(error)) from None
        except Died as error:
            raise self.death(error.flight) from None
        except CannotHatch as error:
            raise OSError(f"no worker process can be had: {error}") from error
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
            if opening.watch is not None:
                opening.watch(self.worker.pid)
            self.ask(header)
        except BaseException:
            # Only an open session has an owner that closes it: what fails here gives its worker back here.
            self.worker.kill()
            raise

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

    def ask(self, header: dict[str, Any], payload: Any = b"") -> tuple[dict[str, Any], bytes]:
        """A question to the worker; deaths and complaints come as errors with findings."""
        try:
            return self.worker.call(header, payload)
        except Died as error:
            raise self.death(error.flight) from None
        except RuntimeRaised as error:
            raise self._complaint(error, header["do"]) from None

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
        reply, _ = self.ask({"do": "allocate", "memory": True})
        self._tie(reply)
        self.allocated = True

    def lay_again(self) -> None:
        """Tie inputs and outputs to the block as they are now."""
        self.inputs = self.outputs = ()
        self._tie(self.ask({"do": "ends"})[0])

    def _tie(self, reply: dict[str, Any]) -> None:
        # An input that is also an output has one place, as it has in the model.
        places: dict[int, int] = {}
        residues: dict[int, int | None] = {}
        for row in (*reply["inputs"], *reply["outputs"]):
            places.setdefault(row["index"], _size(row) if row["fixed"] else 0)
            residues.setdefault(row["index"], row["residue"] if isinstance(row.get("residue"), int) else None)
        offsets, total = lay_out([(size, residues[index]) for index, size in places.items()])
        fits = self._grow(total)
        where = dict(zip(places, offsets, strict=True)) if fits else {}
        ends = {
            side: tuple(_end(row, places, where) for row in reply[side]) for side in ("inputs", "outputs")
        }
        table = {
            side: [[end.index, end.offset, end.size] for end in rows if end.offset is not None]
            for side, rows in ends.items()
        }
        shared = self.ask({"do": "share", "size": total if fits else 0, **table})[0]
        overlaid = shared.get("overlaid")
        # A worker's own count is not believed beyond what there is.
        self.overlaid_bytes = min(max(overlaid, 0), total) if isinstance(overlaid, int) else 0
        self.inputs, self.outputs = ends["inputs"], ends["outputs"]
        self.moving = bool(reply["moving"])

    def _grow(self, total: int) -> bool:
        """Make room in the shared block; False if there is none, and tensors go through the pipe instead."""
        if total > _LARGE_BYTES:
            available = read_machine().available_bytes
            if available is not None and total > available // 2:
                return False
        try:
            self.worker.block.grow(total)
        except (OSError, ValueError, OverflowError):
            return False
        return True

    def death(self, flight: Flight) -> RunError:
        """The error for a death, judged with the model at hand; it is remembered."""
        self._last_death = error = verdicts.died(flight, self._opening.source)
        self.flight = error.flight
        return error

    def death_again(self) -> RunError:
        """The last death, for a caller who goes on as if nothing had happened."""
        last = self._last_death
        if last is None or last.flight is not self.flight:
            assert self.flight is not None
            return self.death(self.flight)
        return type(last)(last.finding, str(last), last.findings[1:], last.flight)

    def story(self) -> Flight:
        """The record of a worker that is still well."""
        worker = self.worker
        return Flight(
            died=False,
            stage="idle",
            peak_bytes=worker.story.peak({}),
            baseline_bytes=worker.story.baseline_bytes,
            timeline=worker.story.points(),
            stderr_tail=worker.stderr_tail(),
            limits={**self._opening.limits.to_json(), **worker.applied_limits},
            runtime=worker.facts,
            pid=worker.pid,
        )

    def _complaint(self, error: RuntimeRaised, stage: str) -> Exception:
        words = error.text.lower()
        starved = (
            not words.strip() or any(word in words for word in _MEMORY_WORDS) or error.kind == "MemoryError"
        )
        # A delegate that cannot be reshaped may have other reasons than a limit that is far away.
        limited = error.near_limit or (
            self._opening.limits.memory_bytes is not None and "reshape runtime" not in words
        )
        flight = replace(
            self.story(),
            stage={
                "open": "load",
                "resize": "set",
                "share": "allocate",
                "call": "invoke",
                "details": "get",
            }.get(stage, stage),
            ended_by="memory"
            if starved and limited and stage in ("open", "allocate", "invoke", "call")
            else "",
            error_type=error.kind,
            error_text=error.text,
        )
        return verdicts.raised(error, flight, self._opening.source)


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def _end(row: dict[str, Any], sizes: dict[int, int], places: dict[int, int]) -> End:
    size = sizes[row["index"]]
    return End(
        index=row["index"],
        dtype=row["dtype"],
        shape=tuple(row["shape"]),
        size=size,
        offset=places.get(row["index"]) if size else None,
        constant=bool(row["constant"]),
    )


def _size(row: dict[str, Any]) -> int:
    """Bytes of a tensor, from its shape and type: a worker's own count is not believed."""
    count = 1
    for size in row["shape"]:
        count *= int(size)
    return int(count * np.dtype(row["dtype"]).itemsize)
