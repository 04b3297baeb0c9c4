"""Real numbers into integers and back: LiteRT's own QUANTIZE and DEQUANTIZE say the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive import demo_models
from outlive.interpreter.affine import Affine, dequantize, quantize
from outlive.surgery import write
from tests.rules.small import graph, operator, tensor, tree

Array = np.ndarray[Any, Any]
INT8 = Affine(name="x", dtype=np.dtype("int8"), scales=(0.5,), zero_points=(3,))


def runtimes(kind: str, source: Array, dtype: str, scale: float, zero: int) -> Array:
    """What LiteRT's kernel makes of an array."""
    quantized = {"quantization": {"scale": [scale], "zero_point": [zero]}}
    ends = [tensor("x", source.shape), tensor("y", source.shape, dtype.upper(), **quantized)]
    if kind == "DEQUANTIZE":
        ends = [ends[1] | {"name": "x"}, ends[0] | {"name": "y"}]
    model = write(tree(graph(ends, [operator(kind, [0], [1])], [0], [1])))
    flight = outlive.run(model, [source], accelerator="reference")
    assert not flight.error_type, flight.error_text
    value: Array = flight.values["y"]
    return value


@pytest.mark.parametrize(
    ("dtype", "scale", "zero"),
    [
        ("int8", 1 / 127, -3),
        ("uint8", 0.0078125, 128),
        ("int8", 0.5, 0),
        ("int16", 1 / 32768, 0),
        ("int8", 0.1, 127),
    ],
)
def test_quantizing_is_the_runtimes(dtype: str, scale: float, zero: int) -> None:
    rng = np.random.default_rng(1)
    halves = (np.arange(-300, 300) + 0.5) * np.float32(scale)
    values = np.concatenate([rng.normal(0, 60 * scale, 2000), halves, [0, 2e9 * scale, -2e9 * scale]]).astype(
        np.float32
    )
    affine = Affine(name="x", dtype=np.dtype(dtype), scales=(float(np.float32(scale)),), zero_points=(zero,))
    mine = quantize(affine, values)
    assert mine.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(mine, runtimes("QUANTIZE", values, dtype, scale, zero))


@pytest.mark.parametrize(
    ("dtype", "scale", "zero"), [("int8", 1 / 127, -3), ("uint8", 0.1, 128), ("int16", 1e-4, 0)]
)
def test_dequantizing_is_the_runtimes(dtype: str, scale: float, zero: int) -> None:
    limits = np.iinfo(dtype)
    values = np.arange(limits.min, limits.max + 1, 1 if limits.bits == 8 else 97).astype(dtype)
    affine = Affine(name="y", dtype=np.dtype(dtype), scales=(float(np.float32(scale)),), zero_points=(zero,))
    mine = dequantize(affine, values)
    assert mine.dtype == np.float32
    np.testing.assert_array_equal(mine, runtimes("DEQUANTIZE", values, dtype, scale, zero))


def test_halves_go_away_from_zero_and_the_rest_is_clamped() -> None:
    values = [0.25, -0.25, 0.75, -0.75, 1e30, -1e30, np.inf, -np.inf]
    assert quantize(INT8, values).tolist() == [4, 2, 5, 1, 127, -128, 127, -128]


def test_there_and_back_is_within_half_a_step() -> None:
    values = np.linspace(-60, 60, 999, dtype=np.float32)
    assert np.abs(dequantize(INT8, quantize(INT8, values)) - values).max() <= 0.25


def test_channels_have_their_own_scales() -> None:
    affine = Affine(name="x", dtype=np.dtype("int8"), scales=(1.0, 0.5), zero_points=(0, 1), axis=1)
    assert quantize(affine, [[1, 1], [2, 2]]).tolist() == [[1, 3], [2, 5]]
    assert dequantize(affine, [[1, 3], [2, 5]]).tolist() == [[1, 1], [2, 2]]


def test_nan_has_no_integer() -> None:
    with pytest.raises(ValueError, match="NaN"):
        quantize(INT8, [0.0, np.nan])


def test_what_is_not_quantized_stays_as_it_is() -> None:
    floats = Affine(name="x", dtype=np.dtype("float32"))
    assert quantize(floats, [1, 2.5]).dtype == np.float32
    assert dequantize(floats, np.array([1.5], np.float32)).tolist() == [1.5]
    tokens = Affine(name="ids", dtype=np.dtype("int32"))
    assert quantize(tokens, [1.0, 2.0]).tolist() == [1, 2]
    with pytest.raises(ValueError, match="not quantized"):
        quantize(tokens, [1.5])


@pytest.mark.parametrize("scales", [(0.0,), (-1.0,), (float("nan"),)])
def test_a_scale_that_makes_no_sense_is_told(scales: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="invalid scales"):
        quantize(Affine(name="x", dtype=np.dtype("int8"), scales=scales, zero_points=(0,)), [1.0])


def test_the_interpreter_does_both(tmp_path: Path) -> None:
    image = np.random.default_rng(0).uniform(-1, 1, (1, 64, 64, 3)).astype(np.float32)
    model = outlive.read(demo_models.path("healthy_int8"))
    with outlive.Interpreter(model_path=str(demo_models.path("healthy_int8"))) as interpreter:
        interpreter.allocate_tensors()
        (row,) = interpreter.get_input_details()
        ints = interpreter.quantize_input("image", image)
        np.testing.assert_array_equal(ints, interpreter.quantize_input(row["index"], image))
        np.testing.assert_array_equal(ints, outlive.quantize_input(row, image))
        np.testing.assert_array_equal(ints, outlive.quantize_input(model.inputs[0], image))
        interpreter.set_tensor(row["index"], ints)
        interpreter.invoke()
        real = interpreter.dequantize_output("probabilities")
        (out,) = interpreter.get_output_details()
        raw = interpreter.get_tensor(out["index"])
        np.testing.assert_array_equal(real, outlive.dequantize_output(out, raw))
        np.testing.assert_array_equal(real, outlive.dequantize_output(model.outputs[0], raw))
        with pytest.raises(ValueError, match="'image'"):
            interpreter.quantize_input("imgae", image)
        with pytest.raises(ValueError, match="unknown tensor 99"):
            interpreter.dequantize_output(99)
    assert abs(float(real.sum()) - 1) < 0.1
    flight = outlive.run(demo_models.path("healthy_int8"), [image], quantize=True, dequantize=True)
    np.testing.assert_array_equal(flight.values["probabilities"], real)
    assert flight.outputs[0].dtype == "float32"


def test_details_that_are_none_are_told() -> None:
    with pytest.raises(ValueError, match="get_input_details"):
        outlive.quantize_input({"name": "x"}, [1.0])
