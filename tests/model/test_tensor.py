"""Tensors as the file has them: types, shapes, constants, quantization, sparsity."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from outlive.model import Tensor, read_source
from outlive.model.schema import load_schema
from outlive.units import DTYPE_BITS, tensor_bytes
from tests.model.small import build, flaws, read_clean, read_tensor, tensor

TYPES = load_schema().enums["TensorType"].names
NUMPY_TYPES = sorted(set(DTYPE_BITS) & {np.dtype(code).name for code in "?bBhHiIqQefdFD"})
OTHER_TYPES = sorted({name.lower() for name in TYPES.values()} - set(NUMPY_TYPES))


def constant(kind: str, shape: tuple[int, ...], data: Any, outside: bool = False, **fields: Any) -> bytes:
    return build([tensor("x", kind.upper(), shape, buffer=1, **fields)], [{"data": data}], outside=outside)


def values(kind: str, shape: tuple[int, ...] = (2, 3)) -> NDArray[Any]:
    return np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(kind)


@pytest.mark.parametrize("number", TYPES)
def test_every_type_of_the_schema_is_read_by_its_name(number: int) -> None:
    assert read_tensor(build([tensor(kind=number)])).dtype == TYPES[number].lower()


def test_the_types_that_newer_files_have() -> None:
    newer = {17: "int4", 18: "bfloat16", 19: "int2", 5: "string", 13: "resource", 14: "variant"}
    assert {number: TYPES[number].lower() for number in newer} == newer


def test_an_unknown_type_is_named_by_its_number_and_is_a_flaw() -> None:
    reading = read_source(build([tensor(kind=77)]))
    assert reading.model is not None
    assert reading.model.inputs[0].dtype == "unknown-77"
    assert reading.model.inputs[0].size_bytes is None
    assert [flaw.kind for flaw in reading.flaws] == ["unknown-type"]
    assert reading.flaws[0].place.startswith("subgraph 0, tensor 0, Tensor.type at byte ")


@pytest.mark.parametrize("outside", [False, True], ids=["inside", "outside"])
@pytest.mark.parametrize("kind", NUMPY_TYPES)
def test_a_constant_is_a_read_only_view_on_the_files_bytes(kind: str, outside: bool, tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(constant(kind, (2, 3), values(kind), outside))
    model = read_source(path).model
    assert model is not None
    array = model.inputs[0].array()
    np.testing.assert_array_equal(array, values(kind), strict=True)
    assert not array.flags.writeable
    assert np.shares_memory(array, np.frombuffer(model.content, np.uint8))
    buffer = model.inputs[0].buffer
    assert buffer is not None
    assert (buffer.outside, buffer.size_bytes) == (outside, array.nbytes)
    assert buffer.offset is not None
    assert path.read_bytes()[buffer.offset :][: array.nbytes] == values(kind).tobytes()


def test_all_types_that_numpy_has_are_covered() -> None:
    assert len(NUMPY_TYPES) == 14
    assert len(NUMPY_TYPES) + len(OTHER_TYPES) == len(TYPES)


@pytest.mark.parametrize("kind", OTHER_TYPES)
def test_a_type_that_numpy_lacks_keeps_its_bytes(kind: str) -> None:
    data = bytes(range(1, 13))
    subject = read_tensor(constant(kind, (2, 3), data))
    assert subject.data == data
    with pytest.raises(LookupError, match=f"is {kind}; its stored bytes are"):
        subject.array()


@pytest.mark.parametrize(
    ("kind", "count", "size"),
    [
        ("int4", 9, 5),
        ("int4", 8, 4),
        ("uint4", 3, 2),
        ("int2", 9, 3),
        ("bfloat16", 9, 18),
        ("float8_e5m2", 9, 9),
    ],
)
def test_small_types_are_packed(kind: str, count: int, size: int) -> None:
    assert tensor_bytes((count,), kind) == size
    assert flaws(read_source(constant(kind, (count,), bytes(size)))) == []
    short = read_source(constant(kind, (count,), bytes(size - 1)))
    assert [flaw.kind for flaw in short.flaws] == ["short-constant"]
    assert f"{size - 1} bytes, {count} {kind} needs {size}" in short.flaws[0].detail


def test_strings_resources_and_variants_have_no_size() -> None:
    for kind in ("string", "resource", "variant"):
        assert read_tensor(build([tensor(kind=kind.upper())])).size_bytes is None


def test_what_is_no_constant_has_no_array() -> None:
    subject = read_tensor(build())
    assert (subject.data, subject.is_constant, subject.buffer) == (None, False, None)
    with pytest.raises(LookupError, match="tensor 0 'x' is not a constant"):
        subject.array()


def test_a_short_constant_has_no_array_and_a_long_one_has_its_first_part() -> None:
    reading = read_source(constant("float32", (2, 3), bytes(23)))
    assert reading.model is not None
    with pytest.raises(LookupError, match="has 23 bytes, needs 24"):
        reading.model.inputs[0].array()
    padded = np.append(values("int32"), np.int32(99))
    np.testing.assert_array_equal(read_tensor(constant("int32", (2, 3), padded)).array(), values("int32"))


def test_an_empty_vector_is_a_constant_and_no_vector_is_none() -> None:
    empty = read_tensor(constant("float32", (0, 3), b""))
    assert (empty.is_constant, empty.data) == (True, b"")
    assert empty.array().shape == (0, 3)
    assert not read_tensor(build([tensor(buffer=1)], [{}])).is_constant


def test_a_constant_at_an_odd_byte_is_a_view_too() -> None:
    def model(place: int) -> bytes:
        return build([tensor("x", "FLOAT32", (1,), buffer=1)], [{"offset": place, "size": 4}])

    place = len(model(2**20)) | 1
    subject = read_tensor(model(place).ljust(place, b"\0") + np.float32(2.5).tobytes())
    assert subject.array().tolist() == [2.5]


def test_shape_signature_rank_and_variable() -> None:
    fields: dict[str, Any] = {"shape_signature": [-1, 8], "has_rank": True, "is_variable": True}
    subject = read_tensor(build([tensor(shape=(1, 8), **fields)]))
    assert (subject.shape, subject.shape_signature) == ((1, 8), (-1, 8))
    assert (subject.has_rank, subject.is_variable, subject.is_dynamic) == (True, True, True)
    plain = read_tensor(build())
    assert (plain.shape_signature, plain.has_rank, plain.is_variable, plain.is_dynamic) == (
        None,
        False,
        False,
        False,
    )
    assert not read_tensor(build([tensor(shape=(1, 8), shape_signature=[1, 8])])).is_dynamic


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ((2, -1), "dimension -1"),
        ((2**31 - 1,) * 4, "more bytes than fit 63 bits"),
        ((-5,), "dimension -5"),
    ],
)
def test_a_shape_no_tensor_can_have_is_a_flaw(shape: tuple[int, ...], text: str) -> None:
    reading = read_source(build([tensor(shape=shape)]))
    assert [flaw.kind for flaw in reading.flaws] == ["bad-shape"]
    assert text in reading.flaws[0].detail


def quantized(**quantization: Any) -> Tensor:
    others = [tensor("scales"), tensor("zero points", "INT32")]
    return read_tensor(build([*others, tensor("x", "INT8", (2, 4), quantization=quantization)]))


def test_quantization_per_tensor_and_per_channel() -> None:
    one = quantized(scale=[0.5], zero_point=[-3], min=[-1.0], max=[1.0]).quantization
    assert one is not None
    assert (one.kind, one.scales, one.zero_points, one.minimum, one.maximum) == (
        "per-tensor", (0.5,), (-3,), (-1.0,), (1.0,),
    )  # fmt: skip
    many = quantized(scale=[0.5, 0.25], zero_point=[2**40, -1], quantized_dimension=1).quantization
    assert many is not None
    assert (many.kind, many.scales, many.zero_points, many.axis) == (
        "per-channel",
        (0.5, 0.25),
        (2**40, -1),
        1,
    )


def test_quantization_of_other_kinds() -> None:
    blocks = {"scales": 0, "zero_points": 1, "block_size": 32}
    block = quantized(
        details_type="BlockwiseQuantization", details=blocks, quantized_dimension=1
    ).quantization
    assert block is not None
    assert (block.kind, block.axis, block.block_size) == ("blockwise", 1, 32)
    assert (block.scales_tensor, block.zero_points_tensor) == (0, 1)
    several = {"scales": 1, "zero_points": -1, "block_size": 4, "quantized_dimensions": [1, 0]}
    axes = quantized(details_type="MultiAxisQuantization", details=several).quantization
    assert axes is not None
    assert (axes.kind, axes.axes, axes.block_size) == ("multi-axis", (1, 0), 4)
    assert (axes.scales_tensor, axes.zero_points_tensor) == (1, -1)
    custom = quantized(
        details_type="CustomQuantization", details={"custom": b"abc"}, scale=[2.0], zero_point=[7]
    )
    assert custom.quantization is not None
    assert (custom.quantization.kind, custom.quantization.custom) == ("custom", b"abc")
    assert (custom.quantization.scales, custom.quantization.zero_points) == ((2.0,), (7,))
    ranged = quantized(min=[-2.0], max=[2.0]).quantization
    assert ranged is not None
    assert (ranged.kind, ranged.minimum, ranged.maximum) == ("range-only", (-2.0,), (2.0,))
    assert quantized(quantized_dimension=3).quantization is None
    assert quantized().quantization is None


@pytest.mark.parametrize(
    ("name", "index"), [("scales", -1), ("scales", 9), ("zero_points", 9), ("zero_points", -2)]
)
def test_scales_in_a_tensor_that_is_not_there_are_a_flaw(name: str, index: int) -> None:
    details = {"scales": 0, "zero_points": 0, "block_size": 2, name: index}
    quantization = {"details_type": "BlockwiseQuantization", "details": details}
    reading = read_source(build([tensor("x", "INT4", (4,), quantization=quantization)]))
    assert [(flaw.kind, flaw.field) for flaw in reading.flaws] == [("dangling-index", name)]


def test_sparsity_with_each_width_of_index() -> None:
    def level(segments: str, indices: str) -> dict[str, Any]:
        return {
            "format": "SPARSE_CSR",
            "array_segments_type": segments,
            "array_segments": {"values": [0, 2, 3]},
            "array_indices_type": indices,
            "array_indices": {"values": [0, 200, 1]},
        }

    levels = [
        {"format": "DENSE", "dense_size": 2},
        level("Int32Vector", "Uint16Vector"),
        level("Uint8Vector", "Uint8Vector"),
    ]
    sparsity = {"traversal_order": [0, 1, 2], "block_map": [1], "dim_metadata": levels}
    subject = read_tensor(constant("int8", (2, 300), b"\1\2\3", sparsity=sparsity))
    assert subject.sparsity is not None
    assert (subject.sparsity.traversal_order, subject.sparsity.block_map) == ((0, 1, 2), (1,))
    dense, wide, narrow = subject.sparsity.dimensions
    assert (dense.format, dense.dense_size, dense.segments, dense.indices) == ("DENSE", 2, None, None)
    for rows in (wide, narrow):
        assert (rows.format, list(rows.segments or ()), list(rows.indices or ())) == (
            "SPARSE_CSR", [0, 2, 3], [0, 200, 1],
        )  # fmt: skip
    with pytest.raises(LookupError, match="is sparse"):
        subject.array()


def test_variants_say_what_they_hold() -> None:
    held = [{"type": "INT4", "shape": [2, 3], "has_rank": True}, {"type": "STRING"}]
    first, second = read_tensor(build([tensor("list", "VARIANT", variant_tensors=held)])).variants
    assert (first.dtype, first.shape, first.has_rank) == ("int4", (2, 3), True)
    assert (second.dtype, second.shape, second.has_rank) == ("string", (), False)


def test_constants_are_not_copied() -> None:
    data = constant("int8", (2**20,), np.zeros(2**20, np.int8))
    model = read_clean(data)
    assert model.content.obj is data
    assert np.shares_memory(model.inputs[0].array(), np.frombuffer(data, np.uint8))
