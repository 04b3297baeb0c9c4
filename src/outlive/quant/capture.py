"""A model whose tensors in between can be read: they are made outputs, and the rest is as it was.

Each capture has a thread of its own that alone talks to its interpreter, so that two models run at once.

Every operator of a model by itself, in one model: each gets inputs of its own and gives an output.

    whole    x ─► op 0 ─ a ─► op 1 ─ b ─► op 2 ─► y
    alone    x'─► op 0 ─► a"      a'─► op 1 ─► b"      b'─► op 2 ─► y"        one invoke runs them all

Constants stay where they are, and operators that only prepare constants come along. Operators that cannot
run together (one is refused, or kills its worker) are parted until the culprit is by itself, and left out.
"""

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.errors import OutliveError
from outlive.interpreter.affine import quantize
from outlive.interpreter.interpreter import WorkerInterpreter
from outlive.interpreter.interpreter_options import ACCELERATORS
from outlive.interpreter.judge import Judge
from outlive.model import Model
from outlive.process.operating_system import trim_heap
from outlive.process.worker_factory import in_words
from outlive.quant.tensor_graph import TensorGraph, affine
from outlive.surgery import Tree, UnknownOptions, tree_of, write
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


Reals = Mapping[int, NDArray[Any]]  # the candidate's values as real numbers, by tensor
Source = tuple[int, int]  # the candidate's tensor that is fed, the reference's tensor it stands for


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolatedOp:
    """An operator of the reference to be run by itself, and the candidate's tensors that it is fed."""

    op: int
    feeds: tuple[int | None, ...]


@dataclass(slots=True)
class _IsolatedModel:
    """Where the clones are: feeds by what they come from, outputs by operator."""

    tree: Tree
    feeds: dict[Source, int] = field(default_factory=dict)
    outputs: dict[int, tuple[int, ...]] = field(default_factory=dict)


class _Group:
    """Operators that are run together."""

    def __init__(
        self, graph: TensorGraph, isolated: tuple[IsolatedOp, ...], judge: Judge, copies: bool
    ) -> None:
        self.isolated, self._copies = isolated, copies
        self._graph, self._judge = graph, judge
        self._layout: _IsolatedModel | None = None
        self._capture: Capture | None = None

    def start(self, values: Reals, accelerator: str) -> Future[Values]:
        """Run on the candidate's values (real numbers by its tensors)."""
        if self._layout is None or self._capture is None:
            self._layout = isolate_ops(self._graph, self.isolated, values)
            wanted = [index for outs in self._layout.outputs.values() for index in outs]
            content = file_of(self._layout.tree)
            self._capture = Capture(content, wanted, accelerator, self._judge, copies=self._copies)
            self._layout.tree = {}
        feeds = {
            clone: self._as_taken(theirs, values[ours])
            for (ours, theirs), clone in self._layout.feeds.items()
        }
        return self._capture.run(feeds)

    def _as_taken(self, index: int, real: NDArray[Any]) -> NDArray[Any]:
        tensor = self._graph.tensors[index]
        if affine(tensor).is_quantized:
            return quantize(affine(tensor), real)
        return real.astype(tensor.dtype, copy=False)

    def outputs(self, found: Values) -> dict[int, NDArray[Any]]:
        """What was computed, by the reference's tensors."""
        assert self._layout is not None
        steps = self._graph.operators
        return {
            out: found[clone]
            for op, clones in self._layout.outputs.items()
            for out, clone in zip(steps[op].outputs, clones, strict=True)
        }

    def close(self) -> None:
        if self._capture is not None:
            self._capture.close()
        self._layout = self._capture = None


Started = tuple[_Group, "Future[Values] | None"]


class IsolatedRuns:
    """The operators that run alone; what cannot is in `refused`, with the reason.

    Without `copies` what they make are views: they must be gone before the next sample is started.
    """

    def __init__(
        self,
        graph: TensorGraph,
        isolated: Iterable[IsolatedOp],
        accelerator: str,
        judge: Judge,
        *,
        copies: bool = True,
    ) -> None:
        """Nothing is started before there are values to feed."""
        self._graph, self._accelerator, self._judge = graph, accelerator, judge
        every = tuple(isolated)
        self._groups = [_Group(graph, every, judge, copies)] if every else []
        self.refused: dict[int, str] = {}

    def start(self, values: Reals) -> list[Started]:
        """Set all groups going on one sample."""
        return [(group, self._started(group, values)) for group in self._groups]

    def _started(self, group: _Group, values: Reals) -> Future[Values] | None:
        try:
            return group.start(values, self._accelerator)
        except (ValueError, UnknownOptions):
            return None  # what cannot be written or fed is parted like what cannot be run

    def finish(self, started: Sequence[Started], values: Reals) -> dict[int, NDArray[Any]]:
        """What every operator makes of the values, by the reference's tensors."""
        found: dict[int, NDArray[Any]] = {}
        for group, future in started:
            found |= self._outcome(group, future, values)
        return found

    def _outcome(
        self, group: _Group, future: Future[Values] | None, values: Reals
    ) -> dict[int, NDArray[Any]]:
        reason = "cannot be written as a separate model"
        if future is not None:
            try:
                return group.outputs(future.result())
            except (OutliveError, ValueError, RuntimeError) as error:
                reason = _first_line(error)
        self._groups.remove(group)
        group.close()
        if len(group.isolated) == 1:
            self.refused[group.isolated[0].op] = reason
            return {}
        return self._parted(group.isolated, values)

    def _parted(self, isolated: tuple[IsolatedOp, ...], values: Reals) -> dict[int, NDArray[Any]]:
        half = len(isolated) // 2
        found: dict[int, NDArray[Any]] = {}
        for part in (isolated[:half], isolated[half:]):
            # Copies: what was raised keeps the frames it passed, and views in them, until it is collected.
            group = _Group(self._graph, part, self._judge, True)
            self._groups.append(group)
            found |= self._outcome(group, self._started(group, values), values)
        return found

    def close(self) -> None:
        """End all workers."""
        for group in self._groups:
            group.close()


def _first_line(error: BaseException) -> str:
    finding = getattr(error, "finding", None)
    if finding is None:
        return str(error).splitlines()[0][:200] if str(error) else type(error).__name__
    headline: str = finding.headline
    return (headline if ": " in headline else f"{headline}: {finding.evidence[0].fact}")[:200]


def isolate_ops(graph: TensorGraph, isolated: Iterable[IsolatedOp], values: Reals) -> _IsolatedModel:
    """The tree in which each of the operators stands by itself; clones have the shapes of what is fed."""
    whole = tree_of(graph.model.content)
    main = whole["subgraphs"][0]
    tensors = list(main["tensors"])
    layout = _IsolatedModel(tree={})
    steps: list[Tree] = []
    prepared: set[int] = set()
    for one in isolated:
        step, row = graph.operators[one.op], main["operators"][one.op]
        inputs = []
        for place, index in enumerate(step.inputs):
            source = one.feeds[place] if place < len(one.feeds) else None
            if index < 0 or index in graph.constants or source is None:
                prepared |= _preparing(graph, index)
                inputs.append(index)
                continue
            key = (source, index)
            if key not in layout.feeds:
                tensors.append(_clone(tensors[index], values[source].shape))
                layout.feeds[key] = len(tensors) - 1
            inputs.append(layout.feeds[key])
        outs = tuple(range(len(tensors), len(tensors) + len(step.outputs)))
        tensors += [_clone(tensors[index], None) for index in step.outputs]
        layout.outputs[one.op] = outs
        steps.append({**row, "inputs": inputs, "outputs": list(outs)})
    first = {
        **main,
        "tensors": tensors,
        "operators": [*(main["operators"][op] for op in sorted(prepared)), *steps],
        "inputs": list(layout.feeds.values()),
        "outputs": [index for outs in layout.outputs.values() for index in outs],
    }
    subgraphs = [first, *whole["subgraphs"][1:]]
    layout.tree = {**whole, "subgraphs": subgraphs, "signature_defs": None, "metadata": None}
    return layout


def _preparing(graph: TensorGraph, index: int) -> set[int]:
    """The operators that compute a constant, if it is not in the file."""
    found: set[int] = set()
    waiting = [index]
    while waiting:
        maker = graph.producers.get(waiting.pop())
        if maker is not None and maker not in found:
            found.add(maker)
            waiting += [given for given in graph.operators[maker].inputs if given >= 0]
    return found


def _clone(tensor: Tree, shape: tuple[int, ...] | None) -> Tree:
    fresh = {**tensor, "buffer": 0, "is_variable": False, "external_buffer": 0, "sparsity": None}
    return fresh if shape is None else {**fresh, "shape": list(shape), "shape_signature": None}
