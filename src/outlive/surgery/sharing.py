"""Which constants of a file are stored more than once, and may safely be one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from outlive.model import Buffer, Model, Tensor

_BIAS_TYPES = frozenset({"int32", "int64"})


def shared_buffers(model: Model, used: Iterable[int]) -> dict[int, int]:
    """For each buffer of `used` that repeats an earlier one, that one; only where nobody can tell."""
    alone = _alone(model)
    alike: dict[int, list[Buffer]] = defaultdict(list)
    for index in sorted(used):
        buffer = model.buffers[index]
        if buffer.size_bytes and index not in alone:
            alike[buffer.size_bytes].append(buffer)
    found: dict[int, int] = {}
    for candidates in alike.values():
        if len(candidates) > 1:
            found |= _repeats(candidates)
    return found


def _repeats(candidates: list[Buffer]) -> dict[int, int]:
    first: dict[bytes, int] = {}
    found = {}
    for buffer in candidates:
        earlier = first.setdefault(buffer.digest(), buffer.index)
        if earlier != buffer.index:
            found[buffer.index] = earlier
    return found


def _alone(model: Model) -> frozenset[int]:
    """Buffers that must stay what they are: metadata, and constants that are written or looked up by."""
    found = {entry.buffer_index for entry in model.metadata}
    for subgraph in model.subgraphs:
        written = {*subgraph.input_indices}
        written.update(index for operator in subgraph.operators for index in operator.outputs)
        found.update(
            tensor.buffer_index for tensor in subgraph.tensors if tensor.index in written or _is_own(tensor)
        )
    return frozenset(found)


def _is_own(tensor: Tensor) -> bool:
    """True if what the runtime makes of its bytes depends on more than the bytes.

    XNNPACK's weight cache finds packed weights by the buffers of weights and bias (LiteRT,
    tflite/delegates/xnnpack/weight_cache.cc: PackIdentifier); what is packed for quantized weights holds the
    scales of the operator as well, so two operators must not meet there.
    """
    if tensor.is_variable or tensor.sparsity is not None:
        return True
    return tensor.quantization is not None and tensor.dtype not in _BIAS_TYPES
