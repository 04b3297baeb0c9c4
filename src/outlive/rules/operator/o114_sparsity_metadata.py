"""Invalid sparsity metadata

What it checks
    The levels, order, blocks, segments and indices of sparse constants match their shapes, and the
    operator that reads them supports sparse tensors.

Why it matters
    The runtime trusts the metadata: kernels follow null pointers, and indices past the end.

What to do
    Convert the model again, or convert it without sparsity.

Limits
    Indices are not compared with the size of the dimension that they index.
"""

from itertools import pairwise

from outlive.model import SparseDimension, Sparsity, Tensor
from outlive.rules.api import Iterator, Severity, rule
from outlive.rules.operator.prepared import PreparedOperator, operators_with

# Sources: LiteRT, tflite/core/interpreter_builder.cc (ParseSparsity), tflite/kernels/fully_connected.cc and
# tflite/kernels/densify.cc (the kernels that know sparse tensors).
_KNOW_SPARSE = frozenset({"FULLY_CONNECTED", "DENSIFY"})
_MOST_DIMENSIONS = 32


def _sparsity_faults(op: PreparedOperator) -> Iterator[str]:
    for slot in op.slots("i*"):
        tensor = op.tensor(slot)
        if tensor is None or tensor.sparsity is None or not op.table.constant(tensor.index):
            continue
        for fault in _faults(tensor, tensor.sparsity, op.operator.type):
            yield f"{op.describe(slot)}: {fault}"
            break


def _faults(tensor: Tensor, sparsity: Sparsity, reader: str) -> Iterator[str]:
    order, blocks, levels = sparsity.traversal_order, sparsity.block_map, sparsity.dimensions
    rank = len(tensor.shape)
    bare = [at for at, level in enumerate(levels) if level.format == "SPARSE_CSR" and not _is_csr(level)]
    if bare:
        yield f"level {bare[0]} is compressed, without segments or indices"
        return
    if reader not in _KNOW_SPARSE:
        stored, dense = tensor.stored_bytes, tensor.size_bytes
        if dense is not None and stored < dense:
            yield f"{stored} bytes of a sparse tensor, read as {dense} dense bytes"
        return
    if len(order) != rank + len(blocks) or len(levels) != len(order) or len(order) > _MOST_DIMENSIONS:
        yield (
            f"rank {rank} with {len(blocks)} blocked dimensions needs {rank + len(blocks)} levels, "
            f"not {len(order)} in the order and {len(levels)} described"
        )
        return
    if sorted(order) != list(range(len(order))) or any(not 0 <= axis < rank for axis in blocks):
        yield f"dimension order {list(order)} with blocks {list(blocks)}"
        return
    if reader == "FULLY_CONNECTED" and not _is_csr(levels[1]):
        yield "second level not compressed; the kernel reads it as compressed"
        return
    yield from _levels(levels)


def _is_csr(level: SparseDimension) -> bool:
    return level.format == "SPARSE_CSR" and level.segments is not None and level.indices is not None


def _levels(levels: tuple[SparseDimension, ...]) -> Iterator[str]:
    rows = 1
    for number, level in enumerate(levels):
        if level.format == "DENSE":
            if level.dense_size <= 0:
                yield f"level {number} has size {level.dense_size}"
                return
            rows *= level.dense_size
            continue
        segments, indices = _numbers(level.segments), _numbers(level.indices)
        if len(segments) != rows + 1 or segments[0] != 0 or segments[-1] != len(indices):
            yield f"level {number} has {len(segments)} segments and {len(indices)} indices for {rows} rows"
            return
        if any(a > b for a, b in pairwise(segments)) or min(indices, default=0) < 0:
            yield f"the segments of level {number} are not sorted"
            return
        rows = len(indices)


def _numbers(values: memoryview | tuple[int, ...] | None) -> list[int]:
    return [] if values is None else [int(value) for value in values]


RULE = rule("O114", "sparsity-metadata", Severity.ERROR, since="0.1", cause="sparsity-metadata")(
    operators_with(_sparsity_faults, "the runtime trusts the sparsity metadata without a check")
)
