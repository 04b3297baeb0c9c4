"""Tensors, and what describes them: buffers, quantization, sparsity."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from outlive.model.buffer import Buffer
from outlive.records import NOT_WRITTEN, in_document, written
from outlive.units import may_become, says_open, tensor_bytes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

QuantizationKind = Literal["per-tensor", "per-channel", "blockwise", "multi-axis", "custom", "range-only"]

# numpy has no name of its own for these; their raw bytes can still be had as `tensor.data`.
NOT_IN_NUMPY = frozenset(
    ("string", "resource", "variant", "bfloat16", "int4", "uint4", "int2", "float8_e4m3fn", "float8_e5m2")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalBuffer:
    """Bytes that live in another file altogether (schema 3d)."""

    id: int
    group: str
    offset: int
    size_bytes: int
    packing: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Quantization:
    """How integers stand for real numbers: real = scale * (integer - zero_point).

    Blockwise and multi-axis quantization keep scales and zero points in tensors of the same subgraph.
    """

    kind: QuantizationKind
    scales: tuple[float, ...] = ()
    zero_points: tuple[int, ...] = ()
    axis: int = 0
    axes: tuple[int, ...] = ()
    block_size: int = 0
    block_shape: tuple[int, ...] = ()
    scales_tensor: int | None = None
    zero_points_tensor: int | None = None
    minimum: tuple[float, ...] = ()
    maximum: tuple[float, ...] = ()
    custom: memoryview | None = field(default=None, repr=False, metadata=NOT_WRITTEN)

    @property
    @in_document()
    def custom_bytes(self) -> int | None:
        """The size of parameters of another kind; None if there are none."""
        return None if self.custom is None else self.custom.nbytes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SparseDimension:
    """One level of a sparse tensor: dense of a size, or compressed rows with segments and indices."""

    format: str
    dense_size: int
    segments: memoryview | tuple[int, ...] | None = field(default=None, repr=False, metadata=NOT_WRITTEN)
    indices: memoryview | tuple[int, ...] | None = field(default=None, repr=False, metadata=NOT_WRITTEN)

    @property
    @in_document("segments")
    def segment_count(self) -> int | None:
        """How many segments there are."""
        return None if self.segments is None else len(self.segments)

    @property
    @in_document("indices")
    def index_count(self) -> int | None:
        """How many indices there are."""
        return None if self.indices is None else len(self.indices)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sparsity:
    """How the stored elements of a sparse constant map to its dense shape."""

    traversal_order: tuple[int, ...]
    block_map: tuple[int, ...]
    dimensions: tuple[SparseDimension, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantType:
    """What a variant tensor holds."""

    dtype: str
    shape: tuple[int, ...]
    has_rank: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tensor:
    """A value of the graph: an input, an output, a constant or something in between."""

    index: int
    name: str
    dtype: str
    shape: tuple[int, ...]
    shape_signature: tuple[int, ...] | None
    has_rank: bool
    is_variable: bool
    buffer_index: int = field(metadata=written("buffer"))
    buffer: Buffer | None = field(metadata=NOT_WRITTEN)
    quantization: Quantization | None
    sparsity: Sparsity | None
    variants: tuple[VariantType, ...]
    external: ExternalBuffer | None

    @property
    def data(self) -> memoryview | None:
        """The constant's bytes, read from the file when first asked for; None if it is not a constant.

        `ModelError` if the file has changed since the model was read.
        """
        return None if self.buffer is None else self.buffer.data

    @property
    def has_data(self) -> bool:
        """True if the file holds bytes for it, be they none; says so without reading them."""
        return self.buffer is not None and self.buffer.length is not None

    @property
    def stored_bytes(self) -> int:
        """How many bytes the file holds for it."""
        return 0 if self.buffer is None else self.buffer.size_bytes

    @property
    @in_document()
    def constant_bytes(self) -> int | None:
        """How many bytes the file holds for it; None if it is no constant."""
        return self.stored_bytes if self.has_data else None

    @property
    def is_constant(self) -> bool:
        """True if the file carries its value."""
        return self.has_data or self.external is not None

    @property
    @in_document()
    def size_bytes(self) -> int | None:
        """Bytes of the dense value; None where the shape or the element size is not fixed."""
        return tensor_bytes(self.shape, self.dtype)

    @property
    def is_dynamic(self) -> bool:
        """True if the shape signature leaves a dimension open."""
        return self.shape_signature is not None and -1 in self.shape_signature

    def says_open(self, given: tuple[int, ...]) -> bool:
        """True if the shape signature leaves open just the dimensions in which this shape differs."""
        return says_open(self.shape_signature, given)

    def may_become(self, given: tuple[int, ...]) -> bool:
        """True if the file allows an input of this shape: see `may_become`."""
        return may_become(self.shape, self.shape_signature, given)

    def array(self) -> NDArray[np.generic]:
        """The constant as a numpy array, read-only and without a copy; read when first asked for."""
        import numpy as np

        if not self.has_data:
            raise LookupError(
                f"tensor {self.index} {self.name!r} is not a constant: it has no value before a run"
            )
        if self.dtype in NOT_IN_NUMPY or self.sparsity is not None:
            kind = "sparse" if self.sparsity is not None else self.dtype
            raise LookupError(
                f"tensor {self.index} {self.name!r} is {kind}; its stored bytes are `tensor.data`"
            )
        wanted = self.size_bytes
        if wanted is None or wanted > self.stored_bytes:
            raise LookupError(
                f"tensor {self.index} {self.name!r} has {self.stored_bytes} bytes, needs {wanted}"
            )
        data = self.data
        assert data is not None
        try:
            return np.frombuffer(data[:wanted], dtype=self.dtype).reshape(self.shape)
        except ValueError as error:  # more dimensions than numpy has
            raise LookupError(f"tensor {self.index} {self.name!r} does not fit numpy: {error}") from error
