"""Where tensors lie in the worker's memory: their bytes, whether these may move, which are constant."""

from __future__ import annotations

from typing import Any, Dict, List, Set

import numpy as np

from .operating_system import own_process, tensor_overlay


def is_text(kind: Any) -> bool:
    """True for the type of a string tensor, which has no memory of a fixed size."""
    return kind in (np.object_, np.bytes_, np.str_, bytes, str, None)


def view(native: Any, index: int) -> Any:
    """The tensor's own memory as bytes; None while it has none (dynamic, not allocated), and for scalars."""
    try:
        if is_text(native.TensorType(index, 0)):
            return None  # the runtime would die of the question
        array = native.tensor(native, index)
    except (ValueError, RuntimeError):
        return None
    if array.ndim == 0 or array.nbytes == 0:
        # Scalars come as copies from the runtime, and nothing has no address: both go the slow way.
        return None
    # Not memoryview.cast: it does not know half floats and complex numbers.
    return memoryview(array.reshape(-1).view(np.uint8))


def can_move(native: Any) -> bool:
    """True if running the model may move its tensors.

    When an operator's output gets its size only as it runs, the runtime plans the rest of the memory anew in
    the middle of an invoke, and whatever lay there may lie elsewhere afterwards (tflite/core/subgraph.cc,
    PrepareOpsAndTensors). Such an output has no memory yet after an allocation. Nor have tensors inside a
    delegate, which are no sign of anything: those are found and left out.
    """
    try:
        nodes = [
            (_listed(native.NodeInputs(node)), _listed(native.NodeOutputs(node)))
            for node in range(native.NumNodes())
        ]
    except (AttributeError, ValueError, RuntimeError):
        return True
    homeless = [
        node for node, (_, outputs) in enumerate(nodes) if any(_is_homeless(native, i) for i in outputs)
    ]
    return bool(homeless) and not _replaced(nodes).issuperset(homeless)


def may_resize(native: Any, model: Any) -> bool:
    """True if running the model may give an output another shape than it was allocated with.

    RESHAPE with a shape that is no constant, for one, has memory after an allocation, and another shape after
    each run. Whatever takes a few whole numbers that are not known before may do so; to look for it after
    each run costs less than to know better.
    """
    try:
        inputs = {i for node in range(native.NumNodes()) for i in _listed(native.NodeInputs(node))}
        return any(_is_shape_like(native, index, model) for index in inputs)
    except (AttributeError, ValueError, RuntimeError):
        return True


def _is_shape_like(native: Any, index: int, model: Any) -> bool:
    """A list of whole numbers, or one, that is no constant."""
    if native.TensorType(index, 0) not in (np.int32, np.int64) or len(native.TensorSize(index, 0)) > 1:
        return False
    piece = view(native, index)
    return piece is None or not model.holds(piece)


def _replaced(nodes: List[Any]) -> Set[int]:
    """The operators whose work a delegate does: they lie between its inputs and its outputs."""
    makers: Dict[int, int] = {}
    found: Set[int] = set()
    for node, (inputs, outputs) in enumerate(nodes):
        if any(index in makers for index in outputs):
            found |= _between(nodes, makers, inputs, outputs)
        for index in outputs:
            makers.setdefault(index, node)
    return found


def _between(nodes: List[Any], makers: Dict[int, int], inputs: List[int], outputs: List[int]) -> Set[int]:
    found: Set[int] = set()
    known = set(inputs)
    left = list(outputs)
    while left:
        index = left.pop()
        if index in known or index not in makers:
            continue
        known.add(index)
        found.add(makers[index])
        left += nodes[makers[index]][0]
    return found


def _listed(indices: Any) -> List[int]:
    return [int(index) for index in indices if index >= 0]


def _is_homeless(native: Any, index: int) -> bool:
    try:
        if is_text(native.TensorType(index, 0)):
            return True  # and the runtime would die of the question
        # An output of size 0 may be one that has no size yet.
        return bool(native.tensor(native, index).size == 0)
    except (ValueError, RuntimeError):
        return True


def shapes(native: Any, subgraph: int) -> List[Any]:
    """The shape of each tensor of a subgraph; None where it has none."""
    found: List[Any] = []
    for index in range(native.NumTensors(subgraph)):
        try:
            found.append([int(size) for size in native.TensorSize(index, subgraph)])
        except (ValueError, RuntimeError):
            found.append(None)  # a temporary that was never given dimensions
    return found


class ModelMemory:
    """The memory of the model itself: mapped read-only, or our copy of its bytes. Constants lie there."""

    def __init__(self, content: Any) -> None:
        """The model's bytes, if we have given the runtime a copy of them."""
        self._start = 0 if content is None else tensor_overlay.address(content)
        self._stop = 0 if content is None else self._start + len(content)

    def holds(self, piece: Any) -> bool:
        """True if the bytes lie there."""
        if piece is None:
            return False
        if self._stop:
            return self._start <= tensor_overlay.address(piece) < self._stop
        return not own_process.is_writable(piece)
