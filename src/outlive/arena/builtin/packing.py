"""What the matrix libraries of the builtin kernels pack operands into: theirs, not the planner's."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from outlive.arena.builtin.preparing import Preparation
from outlive.arena.builtin.tensors import Node
from outlive.units import count_elements

# Measured over two invokes in fresh workers, LiteRT 2.3.0, x86-64: products of one operator, 0.1 to 40 MB.
# The largest product of a model counts, as the room is used again by the next.
_BESIDE_BYTES = 100_000
_SUM_BYTES = 4
# Float products go through Eigen in blocks. Of an operand deeper than a block all rows are packed at once.
# A fit, not Eigen's rule: a depth of 768 fits batches of 64 to 1024 on a processor with 48 KiB of first data
# cache; 512 fitted an earlier one, whose cache is not known and is assumed to be 32 KiB.
_CACHE_BYTES_A_STEP = 64
_USUAL_CACHE_BYTES = 32 << 10
_L1_DATA_CACHE = 188  # glibc, bits/confname.h: _SC_LEVEL1_DCACHE_SIZE, for which Python has no name
_MOST_BLOCKS_BYTES = 400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Product:
    """Weights of `rows` x `depth` times `columns` of data, each `depth` deep."""

    rows: int
    depth: int
    columns: int

    @property
    def elements(self) -> int:
        return (self.rows + self.columns) * self.depth


def packed_bytes(preparations: Iterable[Preparation]) -> int:
    """About what the operands of the largest product are packed into."""
    return max((_packed(p, node) for p in preparations for node in p.nodes), default=0)


def _packed(preparation: Preparation, node: Node) -> int:
    table = preparation.table
    product = _product(preparation, node)
    if product is None or product.columns < 2:
        return 0  # a matrix times a vector is not packed
    kind = node.operator.type
    data, weights = (table.dtypes[node.inputs[i]] for i in _places(kind))
    if weights in ("int8", "uint8") and data != "int16" and (kind, data) != ("FULLY_CONNECTED", "float32"):
        # Both operands as a whole, and sums of rows and columns: ruy/prepare_packed_matrices.cc.
        sums = _SUM_BYTES * (product.rows + product.columns)
        return product.elements + sums + _BESIDE_BYTES
    if weights != "float32":
        return 0
    blocks = min(4 * product.elements, _MOST_BLOCKS_BYTES)
    if kind == "FULLY_CONNECTED" and product.depth > _block_depth():
        return 4 * product.rows * _block_depth() + blocks
    return blocks


@cache
def _block_depth() -> int:
    """How deep a block is on this machine; as on most where the system does not tell its cache."""
    try:
        size = os.sysconf(_L1_DATA_CACHE) if sys.platform == "linux" else 0
    except (AttributeError, OSError, ValueError):
        size = 0
    return (size if size > 0 else _USUAL_CACHE_BYTES) // _CACHE_BYTES_A_STEP


def _places(kind: str) -> tuple[int, int]:
    """Which inputs are the data and the weights."""
    return (2, 1) if kind == "TRANSPOSE_CONV" else (0, 1)


def _product(preparation: Preparation, node: Node) -> _Product | None:
    """The product that an operator comes down to; None if it is none, or its shapes are not known."""
    kind, shapes = node.operator.type, preparation.table.shapes
    if kind not in ("CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV") or not node.outputs:
        return None
    data, weights = _places(kind)
    if len(node.inputs) <= max(data, weights) or min(node.inputs[data], node.inputs[weights]) < 0:
        return None
    sizes = shapes[node.inputs[weights]]
    if not sizes:
        return None
    if kind == "TRANSPOSE_CONV":
        depth, moved = sizes[-1], shapes[node.inputs[data]]
        return _Product(
            rows=count_elements(sizes[:-1]) or 0, depth=depth, columns=count_elements(moved[:-1]) or 0
        )
    depth = count_elements(sizes[1:]) or 0
    if kind == "CONV_2D":
        columns = count_elements(shapes[node.outputs[0]][:-1]) or 0
    else:
        columns = (count_elements(shapes[node.inputs[data]]) or 0) // max(depth, 1)
    return _Product(rows=sizes[0], depth=depth, columns=columns)
