"""A model whose tensors in between can be read: they are made outputs, and the rest is as it was.

Each capture has a thread of its own that alone talks to its interpreter, so that two models run at once.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.interpreter.interpreter import WorkerInterpreter
from outlive.interpreter.interpreter_options import ACCELERATORS
from outlive.interpreter.judge import Judge
from outlive.model import Model
from outlive.process.operating_system import trim_heap
from outlive.process.worker_factory import in_words
from outlive.surgery import Tree, tree_of, write
from outlive.threads import require_thread

Values = dict[int, NDArray[Any]]
# The FlatBuffer's offsets end at 2 GiB: constants of more than this go behind it.
_MOST_INSIDE_BYTES = 2**31 - 2**26


def file_of(tree: Tree) -> bytes:
    """The bytes of a tree, constants behind the FlatBuffer where they are too many to lie in it."""
    inside = sum(len(buffer.get("data") or b"") for buffer in tree["buffers"] or ())
    return write(tree, outside=inside > _MOST_INSIDE_BYTES)


def with_outputs(model: Model, wanted: Iterable[int]) -> bytes | memoryview:
    """The model's file, with more tensors of the main subgraph as outputs."""
    main = model.subgraphs[0]
    extra = [index for index in dict.fromkeys(wanted) if index not in main.output_indices]
    if not extra:
        return model.content
    tree = tree_of(model.content)
    first = {**tree["subgraphs"][0], "outputs": [*main.output_indices, *extra]}
    return file_of({**tree, "subgraphs": [first, *tree["subgraphs"][1:]], "signature_defs": None})


@contextmanager
def freeing_memory() -> Iterator[None]:
    """Do something and collect what it leaves: mappings and files that only the collector would find later.

    They are large and few, so that the collector, which counts objects, sees no reason to hurry. And what is
    free is given back to the system: glibc keeps it for each thread that ever worked.
    """
    try:
        yield
    finally:
        gc.collect()
        trim_heap()


class Capture:
    """An interpreter in a worker, driven by a thread of its own; it gives the tensors asked for."""

    def __init__(
        self,
        content: bytes | memoryview,
        wanted: Iterable[int],
        accelerator: str,
        judge: Judge,
        *,
        copies: bool = True,
    ) -> None:
        """Start loading; nothing is waited for.

        Without `copies` it gives views of the worker's memory: they must be gone before the next run.
        """
        self._content, self._wanted = content, tuple(dict.fromkeys(wanted))
        self._accelerator, self._judge, self._copies = accelerator, judge, copies
        self._interpreter: WorkerInterpreter | None = None
        self._closed = False
        self._shapes: dict[int, tuple[int, ...]] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="outlive-capture")

    def run(self, feeds: Mapping[int, NDArray[Any]]) -> Future[Values]:
        """Run the model on these inputs, by index; the tensors asked for come later."""
        try:
            require_thread()
            return self._thread.submit(self._run, dict(feeds))
        except (MemoryError, RuntimeError) as error:
            if self._closed:
                raise
            raise self._judge.unavailable(in_words(error)) from error  # the system has no thread for it

    def close(self) -> None:
        """End the worker, in the middle of a call if need be, and the thread."""
        self._closed = True
        if self._interpreter is not None:
            self._interpreter.kill()
        self._thread.shutdown(cancel_futures=True)
        if self._interpreter is not None:
            self._interpreter.kill()  # it may have been made while we waited
            self._interpreter = None

    def _run(self, feeds: dict[int, NDArray[Any]]) -> Values:
        if self._closed:
            return {}
        found = self._opened(feeds)
        for index, value in feeds.items():
            found.set_tensor(index, value)
        found.invoke()
        if self._copies:
            return {index: np.asarray(found.get_tensor(index)) for index in self._wanted}
        return {index: np.asarray(found.tensor(index)()) for index in self._wanted}

    def _opened(self, feeds: Mapping[int, NDArray[Any]]) -> WorkerInterpreter:
        """The interpreter, its inputs in the shapes that are fed, its variables as they were at first."""
        found = self._interpreter
        if found is None:
            found = self._interpreter = WorkerInterpreter(
                model_content=self._content,
                experimental_op_resolver_type=ACCELERATORS[self._accelerator],
                _judge=self._judge,
            )
            self._content = b""
            self._shapes = {row["index"]: tuple(row["shape"]) for row in found.get_input_details()}
        elif not self._changed(feeds):
            found.reset_all_variables()
            return found
        for index in self._changed(feeds):
            found.resize_tensor_input(index, feeds[index].shape)
            self._shapes[index] = feeds[index].shape
        found.allocate_tensors()
        return found

    def _changed(self, feeds: Mapping[int, NDArray[Any]]) -> list[int]:
        return [index for index, value in feeds.items() if self._shapes.get(index) != value.shape]
