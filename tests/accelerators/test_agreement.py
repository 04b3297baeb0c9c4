"""How far outputs are apart, and what is normal for their type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import outlive
from outlive.interpreter.agreement import Apart, furthest_apart
from tests.accelerators.small_models import random_numbers


def row(index: int, scales: tuple[float, ...] = ()) -> dict[str, Any]:
    return {"index": index, "name": f"y{index}", "quantization_parameters": {"scales": scales}}


def apart(first: Any, second: Any, arithmetic: str = "float32", scales: tuple[float, ...] = ()) -> Apart:
    return furthest_apart(
        [row(0, scales)], {0: np.asarray(first)}, {0: np.asarray(second)}, arithmetic=arithmetic
    )


F32 = np.float32


@pytest.mark.parametrize(
    ("first", "second", "arithmetic", "normal"),
    [
        (F32([1, 100]), F32([1.05, 100]), "float32", True),
        (F32([1, 100]), F32([1.2, 100]), "float32", False),
        (F32([1, 100]), F32([4, 100]), "float16", True),
        (F32([1, 100]), F32([7, 100]), "float16", False),
        (F32([0, 0]), F32([1e-6, 0]), "float32", True),
        (F32([np.nan, 1]), F32([np.nan, 1]), "float32", True),
        (F32([np.nan, 1]), F32([0, 1]), "float32", False),
        (F32([np.inf]), F32([np.inf]), "float32", True),
        (F32([np.inf]), F32([1]), "float32", False),
        (np.int32([3, 4]), np.int32([3, 5]), "float16", False),
        (np.array([True]), np.array([False]), "float16", False),
        (np.array([b"a"], object), np.array([b"a"], object), "float32", True),
        (np.array([b"a"], object), np.array([b"b"], object), "float32", False),
        (F32([1]), F32([[1]]), "float32", False),
    ],
)
def test_what_is_normal(first: Any, second: Any, arithmetic: str, normal: bool) -> None:
    found = apart(first, second, arithmetic)
    assert (found.largest <= found.allowed) is normal


@pytest.mark.parametrize(
    ("steps", "arithmetic", "normal"),
    [(8, "float32", True), (9, "float32", False), (20, "float16", True), (21, "float16", False)],
)
def test_quantized_values_are_told_in_steps(steps: int, arithmetic: str, normal: bool) -> None:
    found = apart(np.int8([0]), np.int8([steps]), arithmetic, scales=(0.5,))
    assert (found.largest <= found.allowed) is normal
    assert found.largest == steps


def test_the_output_that_is_furthest_from_normal_is_told() -> None:
    first = {0: F32([1000]), 1: F32([1])}
    second = {0: F32([1000.5]), 1: F32([1.1])}
    found = furthest_apart([row(0), row(1)], first, second, arithmetic="float32")
    assert found.output == "y1"


def test_floats_of_a_quantized_model_are_as_coarse_as_it_is() -> None:
    first, second = {0: F32([1.0])}, {0: F32([1.04])}
    plain = furthest_apart([row(0)], first, second, arithmetic="float32")
    coarse = furthest_apart([row(0)], first, second, arithmetic="float32", quantized=True)
    assert plain.largest > plain.allowed
    assert coarse.largest <= coarse.allowed


def test_a_model_that_draws_random_numbers_is_not_compared() -> None:
    seen = outlive.probe(random_numbers(), only=["xnnpack"], inputs=[np.int32([2, 2])], cache=False)[
        "xnnpack"
    ]
    assert (seen.outcome, seen.difference) == ("runs", None)
    assert "RANDOM_UNIFORM" in seen.not_compared
