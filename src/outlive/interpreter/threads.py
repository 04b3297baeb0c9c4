"""Several threads at one interpreter: served one after the other, each with its own inputs and results."""

from __future__ import annotations

from threading import Thread, current_thread, get_ident
from typing import Any
from weakref import WeakKeyDictionary

from numpy.typing import NDArray

Tensors = dict[int, NDArray[Any]]


class Desk:
    """Keeps apart what different threads set and get.

    One thread alone works on the shared block directly. As soon as a second one sets an input, each thread's
    inputs are kept aside until it invokes, and the results of that run are kept for it alone. All threads
    start from what the first one had set by then. Views of the block are the same for all.
    """

    def __init__(self) -> None:
        """Nobody has come yet."""
        self._owner = 0
        self.shared = False
        self._start: tuple[Tensors, Tensors] = {}, {}
        # What a thread kept goes with the thread.
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

    def open(self, inputs: Tensors, results: Tensors) -> None:
        """Be ready for more than one: this is what has been set and computed so far."""
        self.shared = True
        self._start = inputs, results

    def inputs(self) -> Tensors:
        """What this thread has set, by index."""
        thread = current_thread()
        if thread not in self._inputs:
            self._inputs[thread] = dict(self._start[0])
        return self._inputs[thread]

    def keep(self, results: Tensors) -> None:
        """Keep the results of a run for this thread."""
        self._results[current_thread()] = results

    def result(self, index: int) -> NDArray[Any] | None:
        """This thread's own result, if it has one."""
        return self._results.get(current_thread(), self._start[1]).get(index)
