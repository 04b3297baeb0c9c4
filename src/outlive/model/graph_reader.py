"""Reads subgraphs: tensors with their quantization and sparsity, operators with their options.

Makes frozen objects quickly: a model has thousands of tensors, and `frozen` pays for each field twice.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any, TypeVar

from outlive.model.buffer import Buffer
from outlive.model.file_bytes import ByteRange
from outlive.model.flatbuffer import FlatBuffer, Record, TableVector
from outlive.model.flaw import Flaw, FlawKind
from outlive.model.model import Operator, OperatorCode, Options, Subgraph
from outlive.model.schema import FORMATS, load_schema
from outlive.model.tensor import ExternalBuffer, Quantization, SparseDimension, Sparsity, Tensor, VariantType
from outlive.units import DTYPE_BITS, format_shape, tensor_bytes

Built = TypeVar("Built")


def fast_constructor(record: type[Built]) -> Callable[..., Built]:
    """A function that builds the frozen, slotted dataclass from its fields in order.

    The same object as `record(name=value, ...)` gives, made through its slots: about a third of the time.
    """
    names = [field.name for field in fields(record)]  # type: ignore[arg-type]
    space: dict[str, Any] = {f"set_{name}": getattr(record, name).__set__ for name in names}
    space.update(new=object.__new__, record=record)
    sets = "".join(f"    set_{name}(made, {name})\n" for name in names)
    defaults = ", ".join(f"set_{name}=set_{name}" for name in names)
    head = f"def make({', '.join(names)}, *, new=new, record=record, {defaults}):\n"
    source = f"{head}    made = new(record)\n{sets}    return made\n"
    exec(source, space)  # our own field names, nothing from outside
    made: Callable[..., Built] = space["make"]
    return made


_UNSIZED = {"string", "resource", "variant"}
# Sizes are size_t in the runtime: CheckedNumElements, LiteRT, tflite/util.cc
_MAX_TENSOR_BYTES = 2**63
_SURELY_FITS = 2**56  # elements of any type
_SMALL = 2**7  # eight dimensions of less than this have less than 2**56 elements


_PLAIN = {"string", *FORMATS, *load_schema().enums, *(f"[{name}]" for name in FORMATS if name != "uint8")}
# Options whose decoded values point into the file or at other tables.
_WITH_BYTES_OR_TABLES = {
    name for name, fields in load_schema().tables.items() if not {field.type for field in fields} <= _PLAIN
}
_DTYPES = {name: name.lower() for name in load_schema().enums["TensorType"].names.values()}


def dtype_name(kind: str | int) -> str:
    """The type as numpy spells it: `float32`, `int4`; `unknown-77` if the schema does not know it."""
    return kind.lower() if isinstance(kind, str) else f"unknown-{kind}"


_make_tensor, _make_operator, _make_options = (
    fast_constructor(Tensor),
    fast_constructor(Operator),
    fast_constructor(Options),
)


class GraphReader:
    """Turns the tables of subgraphs into nouns, given the model-wide lists they refer to."""

    def __init__(
        self,
        flat: FlatBuffer,
        codes: tuple[OperatorCode, ...],
        buffers: tuple[Buffer, ...],
        external: Mapping[int, ExternalBuffer],
    ) -> None:
        """Keep what tensors and operators refer to by index."""
        self._flat, self._codes, self._buffers, self._external = flat, codes, buffers, external

    def subgraph(self, index: int, record: Record) -> Subgraph:
        """One subgraph; every index in it is checked against what exists."""
        if record["tensors"] is None:
            self._note("missing", "no list of tensors", "SubGraph", "tensors")
        count = len(record["tensors"] or ())
        tensors = tuple([self._tensor(i, row, count) for i, row in enumerate(record["tensors"] or ())])
        for side in ("inputs", "outputs"):
            self._check_indices(record[side] or (), count, "SubGraph", side, optional=False)
        operators = tuple([self._operator(i, row, count) for i, row in enumerate(record["operators"] or ())])
        return Subgraph(
            index=index,
            name=record["name"] or "",
            tensors=tensors,
            input_indices=record["inputs"] or (),
            output_indices=record["outputs"] or (),
            operators=operators,
        )

    def _note(self, kind: FlawKind, detail: str, table: str, field: str) -> None:
        self._flat.log.add(Flaw(kind=kind, detail=detail, table=table, field=field))

    def _dangling(self, what: str, index: int, count: int, table: str, field: str) -> None:
        self._note("dangling-index", f"{what} {index} of {count}", table, field)

    def _check_indices(
        self, indices: tuple[int, ...], count: int, table: str, field: str, optional: bool = True
    ) -> None:
        lowest = -1 if optional else 0
        # The usual case in one comparison each way; the slow walk only names the culprits.
        if not indices or (min(indices) >= lowest and max(indices) < count):
            return
        for index in indices:
            if not lowest <= index < count:
                self._dangling("tensor", index, count, table, field)

    def _tensor(self, index: int, record: Record, count: int) -> Tensor:
        buffer_index, quantization, sparsity = record["buffer"], record["quantization"], record["sparsity"]
        shape = record["shape"] or ()
        variants, external = record["variant_tensors"], record["external_buffer"]
        tensor = _make_tensor(
            index,
            record["name"] or "",
            _DTYPES.get(record["type"]) or dtype_name(record["type"]),
            shape,
            record["shape_signature"],
            record["has_rank"],
            record["is_variable"],
            buffer_index,
            self._buffer(buffer_index) if buffer_index else None,
            self._quantization(quantization, count) if quantization else None,
            self._sparsity(sparsity) if sparsity else None,
            self._variants(variants) if variants else (),
            self._external_buffer(external) if external else None,
        )
        if buffer_index or len(shape) > 8 or (shape and not 0 <= min(shape) <= max(shape) < _SMALL):
            self._check_size(tensor)
        return tensor

    def _buffer(self, index: int) -> Buffer | None:
        # Buffer 0 is the empty one that all tensors without a value share; it does not come here.
        if index >= len(self._buffers):
            self._dangling("buffer", index, len(self._buffers), "Tensor", "buffer")
            return None
        return self._buffers[index]

    def _external_buffer(self, key: int) -> ExternalBuffer | None:
        if key not in self._external:
            self._note("dangling-index", f"external buffer {key} does not exist", "Tensor", "external_buffer")
        return self._external.get(key)

    def _check_size(self, tensor: Tensor) -> None:
        shape, buffer, bits = tensor.shape, tensor.buffer, DTYPE_BITS.get(tensor.dtype, 0)
        count = math.prod(shape) if len(shape) <= 8 else _SURELY_FITS
        stored = None if buffer is None or buffer.length is None else 8 * buffer.length
        possible = count < _SURELY_FITS and (not shape or min(shape) >= 0)
        if possible and (stored is None or count * bits <= stored):
            return  # all is well, as in nearly every tensor of nearly every file
        size = tensor_bytes(shape, tensor.dtype)
        if shape and min(shape) < 0:
            self._note("bad-shape", f"dimension {min(shape)} in {list(shape[:8])}", "Tensor", "shape")
        elif size is not None and size >= _MAX_TENSOR_BYTES:
            what = f"{format_shape(shape[:8])} {tensor.dtype}"
            detail = f"{what} takes more bytes than fit 63 bits"
            self._note("bad-shape", detail, "Tensor", "shape")
        elif tensor.has_data and tensor.sparsity is None and tensor.external is None:
            self._check_constant(tensor, size)

    def _check_constant(self, tensor: Tensor, size: int | None) -> None:
        # As SetTensorParametersReadOnly requires: LiteRT, tflite/core/subgraph.cc
        if size is None or tensor.dtype in _UNSIZED or tensor.stored_bytes >= size:
            return
        shape = format_shape(tensor.shape[:8])
        detail = f"{tensor.stored_bytes:,} bytes, {shape} {tensor.dtype} needs {size:,}"
        self._note("short-constant", detail, "Tensor", "buffer")

    def _variants(self, rows: TableVector) -> tuple[VariantType, ...]:
        return tuple(
            VariantType(dtype=dtype_name(row["type"]), shape=row["shape"] or (), has_rank=row["has_rank"])
            for row in rows
        )

    def _quantization(self, record: Record, count: int) -> Quantization | None:
        details, kind = record["details"] or {}, record["details_type"]
        minimum, maximum = record["min"] or (), record["max"] or ()
        scales, zero_points = record["scale"] or (), record["zero_point"] or ()
        if kind in ("BlockwiseQuantization", "MultiAxisQuantization"):
            for name in ("scales", "zero_points"):
                optional = name == "zero_points"
                self._check_indices((details.get(name, -1),), count, kind, name, optional=optional)
            return Quantization(
                kind="blockwise" if kind == "BlockwiseQuantization" else "multi-axis",
                axis=record["quantized_dimension"],
                axes=details.get("quantized_dimensions") or (),
                block_size=details.get("block_size", 0),
                block_shape=details.get("block_shape") or (),
                scales_tensor=details.get("scales", -1),
                zero_points_tensor=details.get("zero_points", -1),
            )
        is_custom = kind == "CustomQuantization"
        if is_custom or scales or zero_points:
            return Quantization(
                kind="custom" if is_custom else "per-channel" if len(scales) > 1 else "per-tensor",
                scales=scales,
                zero_points=zero_points,
                axis=record["quantized_dimension"],
                minimum=minimum,
                maximum=maximum,
                custom=self._flat.bytes_of(details.get("custom")) if is_custom else None,
            )
        return (
            Quantization(kind="range-only", minimum=minimum, maximum=maximum) if minimum or maximum else None
        )

    def _sparsity(self, record: Record) -> Sparsity:
        dimensions = tuple(
            SparseDimension(
                format=str(row["format"]),
                dense_size=row["dense_size"],
                segments=self._index_vector(row["array_segments"]),
                indices=self._index_vector(row["array_indices"]),
            )
            for row in record["dim_metadata"] or ()
        )
        return Sparsity(
            traversal_order=record["traversal_order"] or (),
            block_map=record["block_map"] or (),
            dimensions=dimensions,
        )

    def _index_vector(self, record: Record | None) -> memoryview | tuple[int, ...] | None:
        values: ByteRange | tuple[int, ...] | None = None if record is None else record["values"]
        return self._flat.bytes_of(values) if isinstance(values, ByteRange) else values

    def _operator(self, index: int, record: Record, count: int) -> Operator:
        code_index = record["opcode_index"]
        if code_index < len(self._codes):
            code = self._codes[code_index]
        else:
            self._dangling("operator code", code_index, len(self._codes), "Operator", "opcode_index")
            code = OperatorCode(type=f"unknown code {code_index}", custom_name="", version=0)
        for field in ("inputs", "outputs", "intermediates"):
            if record[field]:
                self._check_indices(record[field], count, "Operator", field)
        return _make_operator(
            index,
            code.type,
            code.custom_name,
            code.version,
            record["inputs"] or (),
            record["outputs"] or (),
            record["intermediates"] or (),
            self._options(record),
            self._custom_options(record),
            record["mutating_variable_inputs"] or (),
        )

    def _custom_options(self, record: Record) -> memoryview | None:
        start, size, inside = (
            record["large_custom_options_offset"],
            record["large_custom_options_size"],
            record["custom_options"],
        )
        if inside is not None or start <= 1:
            return self._flat.bytes_of(inside)
        if start + size > self._flat.size:
            detail = f"{size:,} bytes at byte {start:,}"
            self._note("outside-buffer", detail, "Operator", "large_custom_options_offset")
            return None
        return self._flat.file.look(start, start + size)

    def _options(self, record: Record) -> Options | None:
        for union in ("builtin_options", "builtin_options_2"):
            table, values = record[f"{union}_type"], record[union]
            if table != "NONE" and values is not None:
                if table in _WITH_BYTES_OR_TABLES:
                    values = {name: self._plain(value) for name, value in values.items()}
                return _make_options(table, MappingProxyType(values))
        return None

    def _plain(self, value: object) -> object:
        """A decoded value without references to the decoder."""
        if isinstance(value, ByteRange):
            return self._flat.bytes_of(value)
        if isinstance(value, TableVector):
            return tuple(self._plain(row) for row in value)
        if isinstance(value, dict):
            return {name: self._plain(item) for name, item in value.items()}
        return value
