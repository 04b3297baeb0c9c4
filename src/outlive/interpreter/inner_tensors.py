"""What lies between inputs and outputs: the tensors of a model over runs with one or several inputs.

    a run gave NaN         ──> once more on its inputs: which operator made the first
    the user asked to look ──> on several inputs: does each output change? if not: where does the change end

The builtin kernels leave a tensor behind each operator, where XNNPACK makes one step of many; all are kept.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.errors import OutliveError
from outlive.interpreter.array_facts import see_tensor
from outlive.interpreter.feeds import make_feeds
from outlive.interpreter.interpreter import WorkerInterpreter
from outlive.interpreter.interpreter_options import ACCELERATORS
from outlive.interpreter.judge import Judge
from outlive.process.flight import Flight, InsideSeen, TensorSeen, Unjudged

# What a second run has in common with the first; the rest is about kernels, or about watching it.
_SHARED = ("model_path", "model_content", "num_threads", "memory", "runtime", "python", "sandbox")
# The caller waits for the result of the run first: what takes longer than this is not looked at.
_MOST_RUN_S, _MOST_LOOK_S = 2.0, 10.0
_LARGE = 1000.0
Feeds = dict[int, NDArray[Any]]
_Make = Callable[[list[dict[str, Any]], "RunInputs"], list[Feeds]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInputs:
    """What a run was given: inputs as they came, their seed, other shapes, and whether floats were turned."""

    inputs: Any = None
    seed: int = 0
    shapes: Mapping[int, Sequence[int]] | None = None
    quantized: bool = False

    @property
    def chosen(self) -> bool:
        """True if the caller chose the numbers."""
        return self.inputs is not None and not isinstance(self.inputs, str)


def with_inner_tensors(
    flight: Flight, feeding: RunInputs, arguments: Mapping[str, Any], vary: bool
) -> Flight:
    """The flight with what was seen inside the model, where its outputs give a reason to look.

    With `vary` it is run on other inputs as well, if the caller chose none, to see whether outputs change.
    """
    took = dict(flight.stages).get("invoke", math.inf)
    if flight.died or flight.error_type or took > _MOST_RUN_S:
        return flight
    if any(output.not_finite for output in flight.outputs):
        return replace(flight, inside=_look(flight.judge, feeding, arguments, _same, all_tensors=True))
    if not vary or feeding.chosen:
        return flight
    seen = _look(flight.judge, feeding, arguments, _different, all_tensors=False)
    if seen is None or all(tensor.varies for tensor in seen.tensors):
        return flight
    return replace(flight, inside=_look(flight.judge, feeding, arguments, _different, all_tensors=True))


def _look(
    judge: Judge | None, feeding: RunInputs, arguments: Mapping[str, Any], make: _Make, all_tensors: bool
) -> InsideSeen | None:
    """What tensors held; None if the model does not run so, whatever the reason."""
    given = {name: arguments[name] for name in _SHARED if name in arguments}
    try:
        with WorkerInterpreter(
            **given,
            seconds=_MOST_LOOK_S,
            experimental_op_resolver_type=ACCELERATORS["builtin"],
            experimental_preserve_all_tensors=all_tensors,
            _judge=judge,
        ) as interpreter:
            for index, shape in (feeding.shapes or {}).items():
                interpreter.resize_tensor_input(index, list(shape))
            interpreter.allocate_tensors()
            return _see(interpreter, feeding, make, all_tensors)
    except (OutliveError, Unjudged, ValueError, TypeError, IndexError, KeyError, RuntimeError, MemoryError):
        return None


def _see(
    interpreter: WorkerInterpreter, feeding: RunInputs, make: _Make, all_tensors: bool
) -> InsideSeen | None:
    feeds = make(interpreter.get_input_details(), feeding)
    if make is _different and len(feeds) < 3:
        return None
    rows: dict[int, list[tuple[TensorSeen, str]]] = {}
    for feed in feeds:
        interpreter.reset_all_variables()
        for index, value in feed.items():
            interpreter.set_tensor(index, value)
        interpreter.invoke()
        for index in _readable(interpreter, all_tensors):
            value = np.asarray(interpreter.get_tensor(index))
            rows.setdefault(index, []).append((see_tensor(index, value), _digest(value)))
    return InsideSeen(runs=len(feeds), chosen=feeding.chosen, tensors=tuple(map(_joined, rows.values())))


def _readable(interpreter: WorkerInterpreter, all_tensors: bool) -> list[int]:
    """Tensors that hold numbers, in the order they are made: the handle of a variable is read as text."""
    if not all_tensors:
        return [int(row["index"]) for row in interpreter.get_output_details()]
    kinds = {row["index"]: np.dtype(row["dtype"]).kind for row in interpreter.get_tensor_details()}
    made = [tensor for _, _, outputs in interpreter.nodes() for tensor in outputs]
    inputs = [row["index"] for row in interpreter.get_input_details()]
    return [index for index in dict.fromkeys((*inputs, *made)) if kinds.get(index, "O") in "fiub"]


def _same(details: list[dict[str, Any]], feeding: RunInputs) -> list[Feeds]:
    return [make_feeds(details, feeding.inputs, feeding.seed, quantized=feeding.quantized)]


def _different(details: list[dict[str, Any]], feeding: RunInputs) -> list[Feeds]:
    """Inputs that differ: random ones, zeros, ones, and large ones of both signs; each once.

    None for a model with inputs that only some numbers fit: indices, lengths, flags, strings.
    """
    if any(np.dtype(row["dtype"]).kind not in "fiu" or _is_index(row) for row in details):
        return []
    seeds = (feeding.seed, feeding.seed + 1, feeding.seed + 2)
    feeds = [make_feeds(details, "random", seed) for seed in seeds]
    feeds += [make_feeds(details, word) for word in ("zeros", "ones")]
    feeds += [{at: _large(value, seed) for at, value in feeds[0].items()} for seed in seeds]
    return list({"".join(map(_digest, feed.values())): feed for feed in feeds}.values())


def _is_index(row: dict[str, Any]) -> bool:
    kind: np.dtype[Any] = np.dtype(row["dtype"])
    return kind.kind != "f" and kind.itemsize > 2


def _large(value: NDArray[Any], seed: int) -> NDArray[Any]:
    """Numbers over the whole range of small integers; floats a thousand times the usual ones."""
    if value.dtype.kind == "f":
        return _LARGE * value
    limits = np.iinfo(value.dtype)
    chance = np.random.default_rng(seed)
    return chance.integers(limits.min, limits.max + 1, value.shape).astype(value.dtype)


def _joined(seen: list[tuple[TensorSeen, str]]) -> TensorSeen:
    """A tensor over all runs."""
    return replace(
        seen[0][0],
        not_finite=max(one.not_finite for one, _ in seen),
        varies=len({digest for _, digest in seen}) > 1,
        minimum=min(one.minimum for one, _ in seen),
        maximum=max(one.maximum for one, _ in seen),
    )


def _digest(value: NDArray[Any]) -> str:
    data = repr(value.tolist()).encode() if value.dtype.kind == "O" else np.ascontiguousarray(value).tobytes()
    return hashlib.sha256(repr(value.shape).encode() + data).hexdigest()
