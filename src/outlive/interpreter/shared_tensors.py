"""The tensors of a session: inputs and outputs as arrays in the shared block, the others asked for.

An input or output of fixed size has a place in the block (`Slot`), so that to set and to get it crosses no
process border. Strings, tensors whose size varies, and blocks that the machine has no room for go through the
pipe. One thread alone works on the block directly; several have values of their own (`PerThreadTensors`).
"""

import contextlib
import copy
import enum
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager
from operator import index as as_index
from threading import Thread, current_thread, get_ident
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from outlive.errors import RunError
from outlive.interpreter.feeds import IoTensor, describe_call, mismatch_text, problem_with
from outlive.interpreter.interpreter_options import InterpreterOptions
from outlive.interpreter.judge import Call
from outlive.interpreter.session import Session, SessionState
from outlive.meter import read_machine
from outlive.process import answers
from outlive.process.child import codec
from outlive.process.operating_system import Addresses, lay_out
from outlive.units import may_become

Tensors = dict[int, NDArray[Any]]
# LiteRT's words, tflite/python/interpreter.py.
_VIEWS_HELD = (
    "There is at least 1 reference to internal data\n"
    "      in the interpreter in the form of a numpy array or slice. Be sure to\n"
    "      only hold the function returned from tensor() if you are using raw\n"
    "      data access."
)
# A shared block beyond this is made only if it leaves room for everything else.
_LARGE_BYTES = 256 << 20


class Slot:
    """One input or output that lives in the shared block."""

    __slots__ = ("array", "dtype", "is_input", "is_set", "shape", "tensor")

    def __init__(self, tensor: IoTensor, memory: NDArray[np.uint8], is_input: bool) -> None:
        """Lay the tensor over its place in the block; an input is not set yet."""
        assert tensor.offset is not None
        self.is_input, self.is_set = is_input, False
        self.tensor, self.shape, self.dtype = tensor, tensor.shape, np.dtype(tensor.dtype)
        self.array: NDArray[Any] = self.view_of(memory)

    def view_of(self, memory: NDArray[np.uint8]) -> NDArray[Any]:
        """The tensor as an array over the block."""
        start = self.tensor.offset or 0
        found: NDArray[Any] = memory[start : start + self.tensor.size].view(self.dtype).reshape(self.shape)
        return found

    def takes(self, value: NDArray[Any]) -> bool:
        """True if the value has the tensor's own type and shape."""
        return value.dtype == self.dtype and value.shape == self.shape


class PerThreadTensors:
    """Keeps apart what different threads set and get.

    One thread alone works on the shared block directly. As soon as a second one sets an input, each thread's
    inputs are kept aside until it invokes, and the results of that run are kept for it alone. All threads
    start from what the first one had set by then. Views of the block are the same for all.
    """

    def __init__(self) -> None:
        """No thread has come yet."""
        self._owner = 0
        self.shared = False
        self._start: tuple[Tensors, Tensors] = {}, {}
        # The values of a thread go with the thread.
        self._inputs: WeakKeyDictionary[Thread, Tensors] = WeakKeyDictionary()
        self._results: WeakKeyDictionary[Thread, Tensors] = WeakKeyDictionary()

    def alone(self) -> bool:
        """True while this thread is the only one, so that it may write to the block directly."""
        if self._owner == get_ident():
            return not self.shared
        if not self._owner:
            self._owner = get_ident()
            return True
        return False

    def share(self, inputs: Tensors, results: Tensors) -> None:
        """Be ready for more than one thread: this is what has been set and computed so far."""
        self.shared = True
        self._start = inputs, results

    def inputs(self) -> Tensors:
        """What this thread has set, by index."""
        return self._inputs.setdefault(current_thread(), dict(self._start[0]))

    def keep(self, results: Tensors) -> None:
        """Keep the results of a run for this thread."""
        self._results[current_thread()] = results

    def value(self, index: int) -> NDArray[Any] | None:
        """What this thread has set or computed."""
        own = self.inputs().get(index)
        return self._results.get(current_thread(), self._start[1]).get(index) if own is None else own


class Results(enum.Enum):
    """What the outputs hold."""

    NONE = "nothing: no run since the tensors were allocated"
    FROM_UNSET_INPUTS = "values of a run with inputs that were never set: the first reader is warned"
    COMPUTED = "values of the last run"


class SharedTensors:
    """A session and its tensors, which survive the session's worker."""

    def __init__(self, options: InterpreterOptions, restart_after_death: bool) -> None:
        """Start a worker and load the model in it."""
        self.session = Session(options, restart_after_death)
        self.inputs: dict[int, IoTensor] = {}
        self.outputs: dict[int, IoTensor] = {}
        self.allocated = False
        self.moving = False  # whether tensors may move in every run
        self.overlaid_bytes = 0
        self.slots: dict[int, Slot] = {}
        self.per_thread = PerThreadTensors()
        self.results = Results.NONE
        self.first_run = True  # the next run is measured, and its inputs are looked at
        self.given: set[int] = set()  # inputs that were set
        self.unset: tuple[int, ...] = ()  # those that were not when the last run began
        self.warned_of: tuple[int, ...] = ()
        self._outside: Tensors = {}  # inputs without a place in the block
        self._kept: Tensors = {}
        self._details: dict[str, Any] = {}
        self._addresses = Addresses()
        # Views that are handed out refer to this array, so that its count of references tells of them.
        self._view_base: NDArray[np.uint8] = np.zeros(0, np.uint8)
        self._base_references = sys.getrefcount(self._view_base)

    # A worker that can be asked.

    def exclusive(self) -> AbstractContextManager[None]:
        """One call at a time, on a worker that is ready."""
        return self.session.exclusive(self.ready)

    def ready(self) -> None:
        """Have a worker that can be asked, and tensors in their places."""
        needed = self.session.needed()
        if needed is SessionState.NEEDS_RESTART:
            self.restart()
        elif needed is SessionState.MOVED:
            self._find_again()

    def restart(self) -> None:
        """Put a new worker in the place of the old one, with the shapes and inputs that it had."""
        session = self.session
        self.keep_inputs()
        with session.failures_noted():
            session.reopen()
            try:
                if self.allocated:
                    self._place({"do": "allocate", "memory": True})
            except BaseException:
                session.worker.kill()
                raise
            session.enter(SessionState.READY)
            self.first_run, self.results = True, Results.NONE
            self._lay_slots()
            for index, value in self._outside.items():
                if index in self.inputs and self.inputs[index].shape == value.shape:
                    self._send(index, value)

    def _find_again(self) -> None:
        """A signature has run on the main subgraph: see where tensors are now and what they hold."""
        session = self.session
        with session.failures_noted():
            self._place({"do": "ends"})
            self._kept = {}
            self._lay_slots()
            session.ask({"do": "fill"})
            session.enter(SessionState.READY)

    def note_moved(self) -> None:
        """The worker moves its tensors: no place is known any more."""
        self.forget()
        self.session.enter(SessionState.MOVED)

    # Questions about the model.

    def detail(self, what: str, *arguments: int) -> Any:
        """What LiteRT says of a tensor, an operator, a signature ...; asked once."""
        with self.session.lock:
            key = f"{what}{arguments}"
            if key not in self._details:
                order = {"do": "details", "what": what, "arguments": [as_index(item) for item in arguments]}
                with self.exclusive():
                    found = self.session.ask_about(what, order)
                if what in ("tensor", "tensors") and arguments[-1]:
                    return found  # other subgraphs change as they run
                self._details[key] = found
            return copy.deepcopy(self._details[key])

    def forget(self) -> None:
        """Forget places and details."""
        self.slots, self._details = {}, {}

    def name_of(self, index: int) -> str:
        """The name of a tensor; empty if the worker cannot be asked."""
        with contextlib.suppress(RunError, ValueError, RuntimeError):
            return str(self.detail("tensor", index, 0)["name"])
        return ""

    # Places in the block.

    def allocate(self) -> None:
        """Allocate tensors, and give inputs and outputs of fixed size a place in the shared block."""
        self.keep_inputs()
        self._place({"do": "allocate", "memory": True})
        self.allocated = True
        self._lay_slots()

    def resize(self, index: int, shape: list[int], strict: bool) -> None:
        """Resize an input; the places of all tensors are gone until they are allocated again."""
        self.keep_inputs()
        with self.session.failures_noted():
            self.session.resize(index, shape, strict)
        self.inputs, self.outputs = {}, {}

    def keep_inputs(self) -> None:
        """Forget the places of tensors, and keep what the inputs held."""
        self._kept.update(self._inputs_in_block())
        self.forget()

    def _inputs_in_block(self) -> Tensors:
        return {index: self.slots[index].array.copy() for index in self.inputs if index in self.slots}

    def _place(self, question: dict[str, Any]) -> None:
        """Ask for inputs and outputs, and give those of fixed size a place in the block."""
        self.inputs, self.outputs = {}, {}
        found: answers.Ends = self.session.ask(question)
        rows: dict[int, answers.EndRow] = {}
        for row in (*found.inputs, *found.outputs):
            rows.setdefault(row.index, row)  # one that is both has one place, as it has in the model
        sizes = {index: answers.size_of(row) if row.fixed else 0 for index, row in rows.items()}
        offsets, total = lay_out([(size, rows[index].residue) for index, size in sizes.items()])
        has_room = self._make_room(total)
        tensors = {
            index: IoTensor(
                index=index,
                dtype=rows[index].dtype,
                shape=rows[index].shape,
                size=size,
                offset=offset if has_room and size else None,
                constant=rows[index].constant,
            )
            for (index, size), offset in zip(sizes.items(), offsets, strict=True)
        }
        inputs, outputs = (
            {row.index: tensors[row.index] for row in side} for side in (found.inputs, found.outputs)
        )
        order = {"do": "share", "size": total if has_room else 0}
        order |= {"inputs": _in_block(inputs.values()), "outputs": _in_block(outputs.values())}
        shared: answers.Shared = self.session.ask(order)
        # A worker's own count is believed up to the size of the block.
        self.overlaid_bytes = min(shared.overlaid, total)
        self.inputs, self.outputs, self.moving = inputs, outputs, found.moving

    def _make_room(self, total: int) -> bool:
        """Make room in the shared block; False if there is none, and tensors go through the pipe instead."""
        if total > _LARGE_BYTES:
            available = read_machine().available_bytes
            if available is not None and total > available // 2:
                return False
        try:
            self.session.worker.grow(total)
        except (OSError, ValueError, OverflowError):
            return False
        return True

    def _lay_slots(self) -> None:
        """Lay inputs and outputs over the shared block, and put back what the inputs held."""
        block = self.session.worker.block
        memory = np.frombuffer(block.map, np.uint8)
        self._view_base = np.frombuffer(block.map, np.uint8)
        self._base_references = sys.getrefcount(self._view_base)
        self.slots = {
            index: Slot(tensor, memory, index in self.inputs)
            for index, tensor in {**self.outputs, **self.inputs}.items()
            if tensor.offset is not None
        }
        for index in self.inputs:
            slot, value = self.slots.get(index), self._kept.get(index)
            if slot is None:
                continue
            fits = value is not None and slot.takes(value)
            slot.array[...] = value if fits else 0
            slot.is_set = fits and index in self.given
            if value is not None and not fits:
                self.given.discard(index)
        self._kept = {}

    # Views of the block.

    def has_views(self) -> bool:
        """True if the caller holds a view of the tensors."""
        return sys.getrefcount(self._view_base) != self._base_references

    def check_no_views(self) -> None:
        """RuntimeError in LiteRT's words if the caller holds a view of the tensors."""
        if sys.getrefcount(self._view_base) != self._base_references:
            raise RuntimeError(_VIEWS_HELD)

    def view(self, slot: Slot) -> NDArray[Any]:
        """The tensor itself, as an array that a caller may keep and take addresses of."""
        self.session.worker.block.hand_out(self._addresses)
        return slot.view_of(self._view_base)

    # Values.

    def set_value(self, index: int, value: Any) -> None:
        """Set any tensor, after all checks; the usual case is the interpreter's."""
        self.ready()
        array = np.asarray(value)
        tensor = self.inputs.get(index)
        if tensor is None:
            self._send(index, array)
            slot = self.slots.get(index)
            if slot is not None and slot.takes(array):
                slot.array[...] = array
            return
        self._refuse_misfit(array, tensor)
        threads = self.per_thread
        if not threads.alone() and not threads.shared:
            threads.share({**self._outside, **self._inputs_in_block()}, self.all_outputs())
        slot, own = self.slots.get(index), array.copy()
        self.note_given(index)
        if slot is None:
            self._send_input(index, own)
        else:
            slot.is_set = True
            if not threads.shared:
                slot.array[...] = array
        if threads.shared:
            threads.inputs()[index] = own

    def note_given(self, index: int) -> None:
        """An input is set; if a run has begun without it, the next one is looked at again."""
        self.given.add(index)
        self.first_run = self.first_run or self.results is Results.FROM_UNSET_INPUTS

    def note_run(self) -> None:
        """A first run, or one that may move tensors, is over: see whether all inputs were set."""
        self._details = {}  # a first run makes temporary tensors, and dynamic ones get their shapes
        needed = [one for one in self.inputs.values() if not one.constant and 0 not in one.shape]
        self.unset = tuple(one.index for one in needed if one.index not in self.given)
        self.results = Results.FROM_UNSET_INPUTS if self.unset else Results.COMPUTED
        self.first_run = False

    def _refuse_misfit(self, array: NDArray[Any], tensor: IoTensor) -> None:
        problem = problem_with(array, tensor)
        if problem:
            name = self.name_of(tensor.index)
            text = mismatch_text(problem, array, tensor, name)
            resizable = self._may_become(tensor, array.shape) or None
            judge = self.session.options.judge
            raise judge.refused(describe_call(problem, array, tensor, name, text, resizable))

    def _may_become(self, tensor: IoTensor, shape: tuple[int, ...]) -> bool:
        with contextlib.suppress(RunError, ValueError, RuntimeError, KeyError):
            signature = self.detail("tensor", tensor.index, 0)["shape_signature"]
            return may_become(tensor.shape, tuple(map(int, signature)), shape)
        return False

    def _send_input(self, index: int, own: NDArray[Any]) -> None:
        """Set an input that has no place in the block; `own` is a copy that is not written to any more."""
        self._send(index, own)
        self._outside[index] = own

    def _send(self, index: int, array: NDArray[Any]) -> None:
        header, payload = codec.pack_array(array)
        try:
            with self.exclusive():
                self.session.ask({"do": "set", "index": as_index(index), **header}, payload)
        except RuntimeError as error:
            if isinstance(error, RunError) or str(error) != "constant":
                raise
            raise self.refused("constant", as_index(index)) from None

    def refused(self, problem: str, index: int) -> Exception:
        """The error for a call that is refused without a word of the runtime."""
        return self.session.options.judge.refused(
            Call(problem=problem, index=index, name=self.name_of(index))
        )

    def load_own_inputs(self) -> None:
        """Give the model what this thread has set."""
        for index, value in self.per_thread.inputs().items():
            slot = self.slots.get(index)
            if slot is not None and slot.takes(value):
                slot.array[...] = value
            elif slot is None and self._outside.get(index) is not value:
                self._send_input(index, value)

    def all_outputs(self) -> Tensors:
        """A copy of each output; none if there was no run."""
        if self.results is Results.NONE:
            return {}
        return {index: self.value(index) for index in self.outputs}

    def value(self, index: int) -> Any:
        """The value of an input or output, as a copy."""
        slot = self.slots.get(index)
        return self.fetch(index, 0) if slot is None else slot.array.copy()

    def get_value(self, index: int, subgraph: int) -> Any:
        """The value of any tensor; an output has to be computed first."""
        self.ready()
        given = None if subgraph else self.inputs.get(index)
        made = None if subgraph or given is not None else self.outputs.get(index)
        if given is None and made is None:
            return hand_out(self.fetch(index, subgraph))
        if self.allocated and given is not None and not given.dtype and index not in self._outside:
            raise self.refused("unset-string", index)
        is_computed = self.results is Results.COMPUTED
        if self.allocated and made is not None and not made.constant and not is_computed:
            raise self.refused("not-computed", index)
        return hand_out(self.value(index))

    def fetch(self, index: int, subgraph: int) -> Any:
        """The value of a tensor from the worker."""
        header = {"do": "get", "index": as_index(index), "subgraph": as_index(subgraph)}
        with self.exclusive():
            return self.session.ask_values(header, 1)[0]


def hand_out(value: NDArray[Any]) -> Any:
    """A value as LiteRT gives it: a scalar is no array, unless it is a string."""
    return value[()] if value.ndim == 0 and value.dtype.kind != "O" else value


def _in_block(tensors: Iterable[IoTensor]) -> list[list[int | None]]:
    return [[one.index, one.offset, one.size] for one in tensors if one.offset is not None]
