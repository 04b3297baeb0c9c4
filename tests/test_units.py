"""Sizes, shapes and types, in and out."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive.model.schema import load_schema
from outlive.units import (
    DTYPE_BITS,
    count_elements,
    exact_size,
    format_bytes,
    format_shape,
    parse_bytes,
    plural,
    tensor_bytes,
)

FACTORS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("0", 0),
        ("812", 812),
        ("812B", 812),
        ("512KB", 512_000),
        ("512 KiB", 524_288),
        ("8MB", 8_000_000),
        ("8mb", 8_000_000),
        ("2GiB", 2_147_483_648),
        ("1.5GB", 1_500_000_000),
        (".5KiB", 512),
        ("  3 TB ", 3_000_000_000_000),
        ("1TiB", 2**40),
        ("9007199254740993", 9_007_199_254_740_993),
    ],
)
def test_a_size_in_words_is_so_many_bytes(text: str, count: int) -> None:
    assert parse_bytes(text) == count


@pytest.mark.parametrize(
    "text", ["", "MB", "8 M B", "-1MB", "1e3", "8MBit", "eight MB", "8,5MB", "1.2.3KB", "0x10", "inf", "nan"]
)
def test_what_is_no_size_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{text!r} is not a size; write a number and a unit")):
        parse_bytes(text)


@given(st.integers(0, 2**60))
def test_a_plain_number_is_taken_exactly(count: int) -> None:
    assert parse_bytes(str(count)) == count
    assert parse_bytes(f"{count}KiB") == 1024 * count


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.00 KiB"),
        (1025, "1.00 KiB"),
        (10_236, "10.0 KiB"),
        (13_500, "13.2 KiB"),
        (102_348, "99.9 KiB"),
        (102_400, "100 KiB"),
        (1_023_488, "0.98 MiB"),
        (2**20, "1.00 MiB"),
        (1_846_835_937, "1.72 GiB"),
        (2**40, "1.00 TiB"),
        (5000 * 2**50, "5000 PiB"),
        (-2048, "-2.00 KiB"),
    ],
)
def test_a_size_is_said_in_three_digits(count: int, text: str) -> None:
    assert format_bytes(count) == text


@given(st.integers(0, 999 * 2**50))
def test_a_size_said_is_near_the_size_meant(count: int) -> None:
    number, unit = format_bytes(count).split()
    assert float(number) * FACTORS[unit] == pytest.approx(count, rel=0.006)
    assert len(number.replace(".", "")) <= 4


@pytest.mark.parametrize(
    ("shape", "text"),
    [((), "scalar"), ((7,), "7"), ((1, 224, 224, 3), "1x224x224x3"), ((-1, 8), "?x8"), ((0, -2), "0x-2")],
)
def test_a_shape_in_a_word(shape: tuple[int, ...], text: str) -> None:
    assert format_shape(shape) == text


@pytest.mark.parametrize(
    ("shape", "count"), [((), 1), ((3,), 3), ((2, 3, 4), 24), ((2, 0), 0), ((-1, 8), None), ((0, -1), None)]
)
def test_elements_are_counted_if_all_dimensions_are_known(shape: tuple[int, ...], count: int | None) -> None:
    assert count_elements(shape) == count


@pytest.mark.parametrize(
    ("shape", "dtype", "count"),
    [
        ((2, 3), "float32", 24),
        ((), "int64", 8),
        ((3,), "int4", 2),
        ((4,), "int4", 2),
        ((5,), "int2", 2),
        ((3,), "bool", 3),
        ((2,), "complex128", 32),
        ((0,), "float32", 0),
        ((2**40, 2**40), "float32", 2**82),
        ((-1, 3), "float32", None),
        ((3,), "string", None),
        ((3,), "resource", None),
        ((3,), "unknown-77", None),
    ],
)
def test_bytes_of_a_tensor(shape: tuple[int, ...], dtype: str, count: int | None) -> None:
    assert tensor_bytes(shape, dtype) == count


def test_every_type_of_the_schema_has_a_size_or_none_by_nature() -> None:
    names = {name.lower() for name in load_schema().enums["TensorType"].names.values()}
    assert names - DTYPE_BITS.keys() == {"string", "resource", "variant"}


@pytest.mark.parametrize("name", sorted(DTYPE_BITS))
def test_sizes_of_types_are_numpys_where_it_has_them(name: str) -> None:
    try:
        wanted = np.dtype(name).itemsize * 8
    except TypeError:
        digits = re.search(r"\d+", name)
        assert digits is not None
        wanted = int(digits[0])
    assert DTYPE_BITS[name] == wanted


@pytest.mark.parametrize(
    ("count", "words", "text"),
    [
        (0, ("tensor",), "0 tensors"),
        (1, ("tensor",), "1 tensor"),
        (2, ("tensor",), "2 tensors"),
        (12_345, ("byte",), "12,345 bytes"),
        (1, ("copy", "copies"), "1 copy"),
        (3, ("copy", "copies"), "3 copies"),
    ],
)
def test_one_thing_and_many_things(count: int, words: tuple[str, ...], text: str) -> None:
    assert plural(count, *words) == text


@pytest.mark.parametrize("given", ["64MB", "512KB", "1.5GB", "64MiB", "2GiB", "96KiB"])
def test_a_size_comes_back_in_the_unit_it_was_given_in(given: str) -> None:
    size = parse_bytes(given)
    unit = given.lstrip("0123456789.")
    assert format_bytes(size, size).endswith(f" {unit}")
    assert ("i" in format_bytes(3 * size + 1, size)) == ("i" in unit), "and so does what is beside it"
    if "i" not in unit:
        assert format_bytes(size, size).replace(" ", "") == given
    assert parse_bytes(exact_size(size)) == size


def test_a_size_that_is_not_round_is_written_in_full() -> None:
    assert exact_size(12_345) == "12345B"
