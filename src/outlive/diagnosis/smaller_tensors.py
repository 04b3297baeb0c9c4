"""Makes the tensors of a model smaller as long as it still ends the same way: weights, batches, pictures.

    sizes in its shapes, the largest first ──► every dimension of that size becomes 1, 2 or half as long
                                           ──► constants and given values are cut with it ──► does it end so?

Dimensions that have to agree have the same size, so they are changed together; where that is not what the
model needs, the runtime says so, and the step is taken back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.model import read_source
from outlive.surgery import tree_of, write

Tree = dict[str, Any]
# Does a model with these inputs still end the way it did?
StillEnds = Callable[[bytes, Any], bool]
_MOST_TRIALS = 24
# Types whose constants are an array of whole bytes.
_WIDTHS = {
    "FLOAT64": 8, "INT64": 8, "UINT64": 8, "COMPLEX64": 8, "FLOAT32": 4, "INT32": 4, "UINT32": 4,
    "FLOAT16": 2, "BFLOAT16": 2, "INT16": 2, "UINT16": 2, "INT8": 1, "UINT8": 1, "BOOL": 1,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shrunk:
    """A model with smaller tensors, and the values it is given."""

    model: bytes
    inputs: Any


def shrink(model: bytes, inputs: Any, still_ends: StillEnds, enough: Callable[[], bool]) -> Shrunk:
    """The smallest found that still ends so; the same model if none does."""
    best = Shrunk(model=model, inputs=inputs)
    trials, refused = 0, set[tuple[int, int]]()
    while trials < _MOST_TRIALS and not enough():
        step = next((step for step in _steps(best.model) if step not in refused), None)
        if step is None:
            break
        trials += 1
        smaller = _changed(best, *step)
        if smaller is not None and still_ends(smaller.model, smaller.inputs):
            best = smaller
        else:
            refused.add(step)
    return best


def _steps(data: bytes) -> Iterator[tuple[int, int]]:
    """Sizes and what to make of them: those first that most elements hang on."""
    model = read_source(data).model
    weights: dict[int, int] = {}
    for tensor in model.subgraphs[0].tensors if model is not None and len(model.subgraphs) == 1 else ():
        for size in {size for size in tensor.shape if size > 1}:
            weights[size] = weights.get(size, 0) + math.prod(tensor.shape)
    for size in sorted(weights, key=lambda size: (-weights[size], -size)):
        yield from ((size, new) for new in dict.fromkeys((1, 2, size // 2)) if 0 < new < size)


def _changed(given: Shrunk, size: int, new: int) -> Shrunk | None:
    """The model with every dimension of one size made another; None if a constant cannot be cut."""
    tree = tree_of(memoryview(given.model))
    try:
        for row in tree["subgraphs"][0]["tensors"] or ():
            _change_tensor(tree, row, size, new)
        _drop_unused(tree)
        return Shrunk(model=write(tree), inputs=_cut_inputs(given.inputs, size, new))
    except ValueError:
        return None


def _change_tensor(tree: Tree, row: Tree, size: int, new: int) -> None:
    shape = list(row["shape"] or ())
    if size not in shape:
        return
    data = tree["buffers"][row["buffer"]]["data"] if row["buffer"] else None
    if data:
        tree["buffers"].append({"data": _cut_bytes(bytes(data), row["type"], shape, size, new)})
        row["buffer"] = len(tree["buffers"]) - 1
    row["shape"] = [new if length == size else length for length in shape]
    if row["shape_signature"]:
        row["shape_signature"] = [new if length == size else length for length in row["shape_signature"]]
    quantization = row["quantization"] or {}
    for name in ("scale", "zero_point", "min", "max"):
        if quantization.get(name) is not None and len(quantization[name]) == size:
            quantization[name] = list(quantization[name])[:new]


def _drop_unused(tree: Tree) -> None:
    """Empty the buffers that are not read any more; their numbers stay."""
    used = {row["buffer"] for graph in tree["subgraphs"] for row in graph["tensors"] or ()}
    used |= {row["buffer"] for row in tree["metadata"] or ()}
    for index, buffer in enumerate(tree["buffers"]):
        if index not in used:
            buffer["data"] = None


def _cut_bytes(data: bytes, kind: str, shape: list[int], size: int, new: int) -> bytes:
    width = _WIDTHS.get(kind, 0)
    if not width or len(data) != width * math.prod(shape):
        raise ValueError("not an array of whole bytes")
    array = np.frombuffer(data, np.dtype(f"V{width}")).reshape(shape)
    return _cut(array, size, new).tobytes()


def _cut_inputs(inputs: Any, size: int, new: int) -> Any:
    if isinstance(inputs, dict):
        return {name: _cut_inputs(value, size, new) for name, value in inputs.items()}
    if isinstance(inputs, (list, tuple)):
        return [_cut_inputs(value, size, new) for value in inputs]
    return _cut(inputs, size, new) if isinstance(inputs, np.ndarray) else inputs


def _cut(array: NDArray[Any], size: int, new: int) -> NDArray[Any]:
    found = array[tuple(slice(new) if length == size else slice(None) for length in array.shape)]
    return np.ascontiguousarray(found).reshape(found.shape)
