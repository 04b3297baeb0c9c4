"""The drop-in for TensorFlow's debugger gives its numbers; `recorded/` has them for a small network."""

from __future__ import annotations

import csv
import io
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive

RECORDED = Path(__file__).parent / "recorded"
TENSORFLOW = json.loads((RECORDED / "tensorflow.json").read_text())
DEBUG, FLOAT = str(RECORDED / "debug_model.tflite"), str(RECORDED / "float_model.tflite")


def dataset() -> Iterator[list[Any]]:
    """The samples that TensorFlow's numbers were recorded with."""
    chance = np.random.default_rng(0)
    for _ in range(5):
        yield [chance.random((1, 16, 16, 3), dtype=np.float32)]


def options(**more: Any) -> outlive.QuantizationDebugOptions:
    return outlive.QuantizationDebugOptions(
        layer_debug_metrics={"l1": lambda diffs: float(np.mean(np.abs(diffs)))},
        model_debug_metrics={"mad": lambda wanted, found: float(np.abs(wanted[0] - found[0]).max())},
        **more,
    )


def rows(debugger: outlive.QuantizationDebugger) -> list[dict[str, str]]:
    file = io.StringIO()
    debugger.layer_statistics_dump(file)
    return list(csv.DictReader(io.StringIO(file.getvalue())))


def test_a_debug_model_gives_the_numbers_of_tensorflow() -> None:
    debugger = outlive.QuantizationDebugger(
        quant_debug_model_path=DEBUG, float_model_path=FLOAT, debug_dataset=dataset, debug_options=options()
    )
    debugger.run()
    assert debugger.layer_statistics is not None
    assert list(debugger.layer_statistics) == list(TENSORFLOW["layers"])
    for layer, expected in TENSORFLOW["layers"].items():
        assert debugger.layer_statistics[layer] == pytest.approx(expected, rel=1e-4, abs=1e-7)
    assert debugger.model_statistics == pytest.approx(TENSORFLOW["model"], rel=1e-4)
    theirs = list(csv.DictReader(io.StringIO(TENSORFLOW["csv"])))
    ours = rows(debugger)
    assert list(ours[0]) == list(theirs[0])
    for mine, other in zip(ours, theirs, strict=True):
        assert (mine["op_name"], mine["tensor_idx"], mine["tensor_name"]) == (
            other["op_name"], other["tensor_idx"], other["tensor_name"],
        )  # fmt: skip
        assert float(mine["scale"]) == pytest.approx(float(other["scale"]))


def test_a_float_model_alone_is_enough_and_says_nearly_the_same() -> None:
    debugger = outlive.QuantizationDebugger(
        float_model_path=FLOAT, debug_dataset=dataset, debug_options=options()
    )
    debugger.run()
    ours = {row["op_name"]: row for row in rows(debugger)}
    theirs = {row["op_name"]: row for row in csv.DictReader(io.StringIO(TENSORFLOW["csv"]))}
    assert set(ours) == set(theirs)
    for kind, row in ours.items():
        assert float(row["num_elements"]) == float(theirs[kind]["num_elements"])
        relative = {
            side: np.sqrt(float(one["mean_squared_error"])) / float(one["scale"])
            for side, one in (("ours", row), ("theirs", theirs[kind]))
        }
        assert relative["ours"] == pytest.approx(relative["theirs"], rel=0.5)
    assert debugger.model_statistics == pytest.approx(TENSORFLOW["model"], rel=0.5)


def test_new_options_quantize_anew() -> None:
    debugger = outlive.QuantizationDebugger(float_model_path=FLOAT, debug_dataset=dataset)
    debugger.options = outlive.QuantizationDebugOptions(denylisted_ops=["CONV_2D"])
    assert debugger.layer_statistics is None
    debugger.run()
    assert "CONV_2D" not in {row["op_name"] for row in rows(debugger)}
    assert debugger.get_nondebug_quantized_model() == debugger.quant_model


def test_direct_metrics_see_reals_integers_scale_and_zero_point() -> None:
    def direct(wanted: Any, integers: Any, scale: float, zero_point: int) -> float:
        real = (integers.astype(np.int32) - zero_point) * scale
        return float(np.mean((real - wanted) ** 2))

    debugger = outlive.QuantizationDebugger(
        float_model_path=FLOAT,
        debug_dataset=dataset,
        debug_options=outlive.QuantizationDebugOptions(layer_direct_compare_metrics={"direct": direct}),
    )
    debugger.run()
    assert debugger.layer_statistics
    for metrics in debugger.layer_statistics.values():
        assert metrics["direct"] == pytest.approx(metrics["mean_squared_error"], rel=1e-4)


def test_mistakes_are_told_as_tensorflow_tells_them() -> None:
    with pytest.raises(ValueError, match="duplicate keys"):
        outlive.QuantizationDebugOptions({"a": np.mean}, {"a": np.mean})
    with pytest.raises(ValueError, match="debug mode"):
        outlive.QuantizationDebugger(quant_debug_model_path=FLOAT, debug_dataset=dataset)
    with pytest.raises(ValueError, match="No converter found"):
        outlive.QuantizationDebugger(
            quant_debug_model_path=DEBUG, debug_dataset=dataset
        ).get_debug_quantized_model()
    with pytest.raises(ValueError, match="give a converter"):
        outlive.QuantizationDebugger(debug_dataset=dataset)


class Converter:
    """As much of TensorFlow's converter as the debugger looks at; its dataset fails with a TypeError."""

    optimizations = ("DEFAULT",)

    def __init__(self, notes: Path) -> None:
        self.notes = notes
        self.representative_dataset = dataset

    def convert(self) -> bytes:
        with self.notes.open("a") as file:
            file.write(f"{os.getpid()}\n")
        raise TypeError("object of type 'int' has no len()")


def test_a_type_error_of_a_conversion_does_not_bring_it_here(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    with pytest.raises(TypeError, match="has no len"):
        outlive.QuantizationDebugger(converter=Converter(notes), debug_dataset=dataset)
    (where,) = notes.read_text().split()
    assert int(where) != os.getpid()


def test_a_converter_that_cannot_be_sent_runs_here_with_a_warning(tmp_path: Path) -> None:
    converter = Converter(tmp_path / "notes")
    converter.lock = threading.Lock()  # type: ignore[attr-defined]
    with pytest.warns(UserWarning, match="cannot be sent"), pytest.raises(TypeError, match="has no len"):
        outlive.QuantizationDebugger(converter=converter, debug_dataset=dataset)
    assert (tmp_path / "notes").read_text().split() == [str(os.getpid())]
