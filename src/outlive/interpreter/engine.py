"""What stands behind an interpreter: its session, its tensors in the shared block, and whose turn it is."""

from __future__ import annotations

import contextlib
import copy
import os
import sys
import threading
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import index as as_index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.errors import RunError
from outlive.finding import Finding
from outlive.interpreter import shared_tensors as slots
from outlive.interpreter.array_facts import see_tensor, with_outputs
from outlive.interpreter.judge import Call, Judge
from outlive.interpreter.options import brings_xnnpack
from outlive.interpreter.session import End, Opening, Session
from outlive.interpreter.shared_tensors import Desk, Slot, Tensors
from outlive.process.child import codec
from outlive.process.delegation import ask_delegation
from outlive.process.flight import Flight, InsideSeen
from outlive.process.operating_system import Addresses, at_fork
from outlive.units import may_become

HELD = (
    "There is at least 1 reference to internal data\n"
    "      in the interpreter in the form of a numpy array or slice. Be sure to\n"
    "      only hold the function returned from tensor() if you are using raw\n"
    "      data access."
)
_CLOSED = "this interpreter is closed and its worker has ended; open a new one"

_engines: weakref.WeakSet[Engine] = weakref.WeakSet()


class Engine:
    """A session and its tensors, one call at a time.

    `_upset` is True when something has to be put right before the next call: after a death, an interrupt,
    a close, a fork, or a signature that has moved the tensors.
    """

    _judge = Judge()

    def __init__(self, opening: Opening, restart: bool) -> None:
        """Start a worker and load the model in it."""
        self._restart = restart
        self._lock = threading.RLock()
        self._desk = Desk()
        self._slots: dict[int, Slot] = {}
        self._kept: Tensors = {}
        self._cold_inputs: Tensors = {}
        self._details: dict[str, Any] = {}
        self._keeper: NDArray[np.uint8] = np.zeros(0, np.uint8)
        self._calm = sys.getrefcount(self._keeper)
        self._fresh = True
        self._computed = False
        # Inputs that were set; those that were not when the last run began; what a reader was told of these.
        self._given: set[int] = set()
        self._unset: tuple[int, ...] = ()
        self._told_unset: tuple[int, ...] = ()
        self._upset = self._interrupted = self._stale = self._closed = False
        self._addresses = Addresses()
        self._judge = opening.judge
        self._session = Session(opening)
        self.brings_xnnpack, self._source = brings_xnnpack(opening), opening.source
        _engines.add(self)

    @property
    def overlaid_bytes(self) -> int:
        """Bytes of inputs and outputs that lie in memory shared with the worker, and nowhere else."""
        return self._session.overlaid_bytes

    @property
    def has_run(self) -> bool:
        """True if there are outputs to read."""
        return self._computed or bool(self._unset)

    def nodes(self) -> list[Any]:
        """Type, inputs and outputs of the nodes of the main graph; those of delegates are at the end."""
        found: list[Any] = self._ask_about("nodes", {"do": "nodes"})
        return found

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What went wrong without a word until now, as `run(...).findings`; looked for when asked for."""
        with self._lock:
            rows = self._detail("outputs") if self.has_run else []
            seen = with_outputs(self._story(), rows, [self._value(row["index"]) for row in rows])
            if rows and self.brings_xnnpack:
                seen = replace(seen, delegation=ask_delegation(self.nodes, ["XNNPACK"]))
            given = tuple(see_tensor(at, slot.array) for at, slot in self._slots.items() if slot.is_input)
            return replace(seen, inside=InsideSeen(runs=1, chosen=True, tensors=given)).findings

    def _story(self) -> Flight:
        unset = tuple((index, self._name_of(index)) for index in self._told_unset or self._unset)
        return replace(self._session.story(), unset_inputs=unset, source=self._source)

    def _stand(self) -> None:
        """Have a worker that can be asked: after a death only if that was wanted."""
        session = self._session
        foreign = session.owner != os.getpid()
        if not self._upset and not foreign:
            return
        if self._closed:
            raise RuntimeError(_CLOSED)
        if self._interrupted or foreign or (session.flight is not None and self._restart):
            self._start_again()
        elif session.flight is not None:
            raise session.death_again()
        elif self._stale:
            self._lay_again()
        self._upset = False

    def _start_again(self) -> None:
        """Put a new worker in the place of the old one, with the shapes and inputs that it had."""
        session = self._session
        self._set_aside()
        with self._minding():
            session.reopen()
            self._interrupted = self._stale = False
            self._fresh, self._computed = True, False
            self._lay_slots()
            shapes = {end.index: end.shape for end in session.inputs}
            for index, value in self._cold_inputs.items():
                if shapes.get(index) == value.shape:
                    self._send(index, value)

    def _lay_again(self) -> None:
        """A signature has run on the main subgraph: see where tensors are now and what they hold."""
        with self._minding():
            self._session.lay_again()
            self._kept = {}
            self._lay_slots()
            self._session.ask({"do": "fill"})
        self._stale = False

    @contextlib.contextmanager
    def _minding(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self._note(error)
            raise

    def _note(self, error: BaseException) -> None:
        """Ctrl-C and its like cost the worker, not the interpreter: the next call gets a new one.

        So does whatever else a signal handler of the user's raises in the middle of a call.
        """
        session = self._session
        if not isinstance(error, Exception) or (session.flight is None and session.worker.closed):
            self._interrupted = True
        if self._interrupted or self._session.flight is not None:
            self._upset = True

    def _ask(self, header: dict[str, Any], payload: Any = b"", **how: Any) -> Any:
        with self._lock:
            self._stand()
            with self._minding():
                return self._session.ask(header, payload, **how)

    def _ask_about(self, question: str, header: dict[str, Any]) -> Any:
        with self._lock:
            self._stand()
            with self._minding():
                return self._session.ask_about(question, header)

    def _detail(self, what: str, *arguments: int) -> Any:
        with self._lock:
            key = f"{what}{arguments}"
            if key not in self._details:
                order = {"do": "details", "what": what, "arguments": [as_index(item) for item in arguments]}
                found = self._ask_about(what, order)
                if what in ("tensor", "tensors") and arguments[-1]:
                    return found  # other subgraphs change as they run
                self._details[key] = found
            return copy.deepcopy(self._details[key])

    def _safe_to_run(self) -> bool:
        """True if nobody holds a view of the tensors."""
        return sys.getrefcount(self._keeper) == self._calm

    def _ensure_safe(self) -> None:
        if not self._safe_to_run():
            raise RuntimeError(HELD)

    def _set_aside(self) -> None:
        """Forget the places of tensors, and keep what the inputs held."""
        for end in self._session.inputs:
            if end.index in self._slots:
                self._kept[end.index] = self._slots[end.index].array.copy()
        self._slots, self._details = {}, {}

    def _lay_slots(self) -> None:
        """Lay inputs and outputs over the shared block, and put back what the inputs held."""
        block = self._session.worker.block
        memory = np.frombuffer(block.map, np.uint8)
        self._keeper = np.frombuffer(block.map, np.uint8)
        self._calm = sys.getrefcount(self._keeper)
        inputs = {end.index for end in self._session.inputs}
        ends = (*self._session.outputs, *self._session.inputs)
        self._slots = {
            end.index: Slot(end, memory, end.index in inputs) for end in ends if end.offset is not None
        }
        for end in self._session.inputs:
            slot, value = self._slots.get(end.index), self._kept.get(end.index)
            if slot is None:
                continue
            kept = value is not None and slot.takes(value)
            slot.array[...] = value if kept else 0
            slot.is_set = kept and end.index in self._given
            if value is not None and not kept:
                self._given.discard(end.index)
        self._kept = {}

    def _never_set(self) -> tuple[int, ...]:
        """The inputs that are to be set and were not: they hold zeros."""
        ends = [end for end in self._session.inputs if not end.constant and 0 not in end.shape]
        return tuple(end.index for end in ends if end.index not in self._given)

    def _note_given(self, index: int) -> None:
        """An input is set; if a run has begun without it, the next one is looked at again."""
        self._given.add(index)
        self._fresh = self._fresh or bool(self._unset)

    def _warn_unset(self) -> None:
        """Say once that an output was computed from inputs that were never set."""
        unset, self._unset, self._computed = self._unset, (), True
        if self._told_unset:
            return
        self._told_unset = unset
        self._judge.warn(self._story(), stacklevel=5)

    def _run_subgraph(self, subgraph: int, inputs: Tensors, outputs: list[int]) -> list[Any]:
        """Run a signature, and give the values of its outputs."""
        packed = [(index, *codec.pack_array(value)) for index, value in inputs.items()]
        parts = [{**header, "index": index} for index, header, _ in packed]
        message = {"do": "call", "subgraph": subgraph, "inputs": parts, "outputs": outputs}
        with self._lock:
            self._stand()
            fresh = self._fresh
            if subgraph == 0:
                self._slots, self._details, self._computed, self._unset = {}, {}, False, ()
                self._upset = self._stale = True
                self._fresh = True  # if it fails, the next run is a first one
            with self._minding():
                values = self._session.ask_values(message, len(outputs), [data for _, _, data in packed])
            if subgraph == 0:
                self._given.update(inputs)
                self._session.note_shapes({index: list(value.shape) for index, value in inputs.items()})
                self._computed, self._fresh = True, fresh
        return [slots.hand_out(value) for value in values]

    def _is_input(self, index: int) -> bool:
        return any(end.index == index for end in self._session.inputs)

    def _name_of(self, index: int) -> str:
        with contextlib.suppress(RunError, ValueError, RuntimeError):
            return str(self._detail("tensor", index, 0)["name"])
        return ""

    def _may_become(self, end: End, shape: tuple[int, ...]) -> bool:
        with contextlib.suppress(RunError, ValueError, RuntimeError, KeyError):
            signature = self._detail("tensor", end.index, 0)["shape_signature"]
            return may_become(end.shape, tuple(map(int, signature)), shape)
        return False

    def _end_of(self, index: int) -> End | None:
        ends = (*self._session.inputs, *self._session.outputs)
        return next((end for end in ends if end.index == index), None)

    def _set_slowly(self, index: int, value: Any) -> None:
        self._stand()
        array = np.asarray(value)
        end = self._end_of(index)
        if end is None or not self._is_input(index):
            self._send(index, array)
            slot = self._slots.get(index)
            if slot is not None and slot.takes(array):
                slot.array[...] = array
            return
        self._refuse_misfits(array, end)
        if not self._desk.alone() and not self._desk.shared:
            self._desk.open(self._all_inputs(), self._all_outputs())
        slot, own = self._slots.get(index), array.copy()
        self._note_given(index)
        if slot is None:
            self._place_cold(index, own)
        else:
            slot.is_set = True
            if not self._desk.shared:
                slot.array[...] = array
        if self._desk.shared:
            self._desk.inputs()[index] = own

    def _refuse_misfits(self, array: NDArray[Any], end: End) -> None:
        problem = slots.problem_with(array, end)
        if problem:
            name = self._name_of(end.index)
            text = slots.mismatch_text(problem, array, end, name)
            resizable = self._may_become(end, array.shape) or None
            raise self._judge.refused(slots.describe_call(problem, array, end, name, text, resizable))

    def _place_cold(self, index: int, own: NDArray[Any]) -> None:
        """Set an input that has no place in the block; `own` is a copy that nobody else writes to."""
        self._send(index, own)
        self._cold_inputs[index] = own

    def _send(self, index: int, array: NDArray[Any]) -> None:
        header, payload = codec.pack_array(array)
        try:
            self._ask({"do": "set", "index": as_index(index), **header}, payload)
        except RuntimeError as error:
            if isinstance(error, RunError) or str(error) != "constant":
                raise
            call = Call(problem="constant", index=as_index(index), name=self._name_of(index))
            raise self._judge.refused(call) from None

    def _load_own(self) -> None:
        """Give the model what this thread has set."""
        for index, value in self._desk.inputs().items():
            slot = self._slots.get(index)
            if slot is not None and slot.takes(value):
                slot.array[...] = value
            elif slot is None and self._cold_inputs.get(index) is not value:
                self._place_cold(index, value)

    def _all_inputs(self) -> Tensors:
        held = dict(self._cold_inputs)
        for end in self._session.inputs:
            if end.index in self._slots:
                held[end.index] = self._slots[end.index].array.copy()
        return held

    def _all_outputs(self) -> Tensors:
        if not self.has_run:
            return {}
        return {end.index: self._value(end.index) for end in self._session.outputs}

    def _value(self, index: int) -> Any:
        slot = self._slots.get(index)
        return self._fetch(index, 0) if slot is None else slot.array.copy()

    def _own_value(self, index: int) -> NDArray[Any] | None:
        """What this thread has set or computed, where several threads are at it."""
        own = self._desk.inputs().get(index)
        return self._desk.result(index) if own is None else own

    def _get_slowly(self, index: int, subgraph: int) -> Any:
        self._stand()
        end = self._end_of(index)
        if self._unset and end is not None and not self._is_input(index):
            self._warn_unset()
        if end is not None and not subgraph and self._session.allocated:
            unset = not end.dtype and self._is_input(index) and index not in self._cold_inputs
            if unset or not (self._computed or self._is_input(index) or end.constant):
                problem = "unset-string" if unset else "not-computed"
                raise self._judge.refused(Call(problem=problem, index=index, name=self._name_of(index)))
        known = end is not None and not subgraph
        return slots.hand_out(self._value(index) if known else self._fetch(index, subgraph))

    def _fetch(self, index: int, subgraph: int) -> Any:
        """The value of a tensor from the worker."""
        header = {"do": "get", "index": as_index(index), "subgraph": as_index(subgraph)}
        return self._values(header, 1)[0]

    def _values(self, header: dict[str, Any], count: int, payload: Sequence[Any] = ()) -> list[Any]:
        with self._lock:
            self._stand()
            with self._minding():
                return self._session.ask_values(header, count, payload)


def _start_over() -> None:
    """In a forked child of the program: its parent's workers are not its own.

    A thread that was inside a call is not here to give the lock back, either.
    """
    for engine in list(_engines):
        engine._lock = threading.RLock()
        engine._upset = True


at_fork(after_in_child=_start_over)
