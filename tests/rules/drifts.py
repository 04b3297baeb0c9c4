"""Comparisons and quantizations as the cases need them, made by hand: nothing is run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from outlive.quant.drift import Drift, InputRange, Metrics, OutputDrift, PassSummary, TensorDrift
from outlive.quant.quantized import LayerResult, Quantized

MIB = 1 << 20


def metrics(steps: float = 0.3, **fields: Any) -> Metrics:
    """A healthy layer: values from -4 to 4, an error of a third of a step."""
    usual: dict[str, Any] = {
        "num_elements": 1000,
        "stddev": 0.01,
        "mean_error": 0.0,
        "max_abs_error": 0.02,
        "mean_squared_error": 0.0001,
        "rmse": 0.01,
        "sqnr_db": 38.5,
        "cosine": 0.9999,
        "reference_min": -4.0,
        "reference_max": 4.0,
        "rmse_over_scale": 0.3,
        "at_limit_share": 0.001,
        "saturated_share": 0.0,
        "range_used": 0.98,
        "rmse_over_ideal_step": steps,
    }
    return Metrics(**{**usual, **fields})


def layer(op: int, kind: str = "CONV_2D", **fields: Any) -> TensorDrift:
    """A healthy layer of a network."""
    usual: dict[str, Any] = {
        "name": f"stage{op}/conv",
        "index": 10 + op,
        "op": op,
        "op_type": kind,
        "reference_name": f"stage{op}/conv",
        "reference_index": 5 + op,
        "dtype": "int8",
        "shape": (1, 10, 10, 10),
        "scale": 0.0314,
        "zero_point": 0,
        "metrics": metrics(),
        "born_here": metrics(),
    }
    return TensorDrift(**{**usual, **fields})


def drift(*changed: TensorDrift, **fields: Any) -> Drift:
    """Five healthy layers, some of them changed, after 100 samples."""
    rows = {row.op: row for row in [*map(layer, range(5)), *changed]}
    usual: dict[str, Any] = {
        "tensors": tuple(rows.values()),
        "outputs": (output(),),
        "samples": 100,
        "turns": PassSummary(count=1, budget_bytes=512 * MIB, largest_bytes=MIB),
        "input_ranges": (InputRange(name="image", low=-1.0, high=0.99, can_hold=(-1.0, 0.992)),),
    }
    return Drift(**{**usual, **fields})


def output(**fields: Any) -> OutputDrift:
    """An output that agrees with the reference's."""
    usual: dict[str, Any] = {
        "name": "scores",
        "index": 20,
        "reference_name": "scores",
        "metrics": metrics(),
        "argmax_agreement": 0.98,
    }
    return OutputDrift(**{**usual, **fields})


def quantized(how: str = "int8", why: str = "", **fields: Any) -> Quantized:
    """Three operators that became the same."""
    layers = tuple(LayerResult(op=op, type="CONV_2D", name=f"conv{op}", how=how, why=why) for op in range(3))
    made = Quantized(
        model=bytes(MIB // 4),
        recipe="static-int8",
        layers=layers,
        samples=20,
        float_bytes=MIB,
        seconds=1.5,
        input_ranges=(InputRange(name="image", low=-1.0, high=1.0, can_hold=None),),
    )
    return replace(made, **fields)
