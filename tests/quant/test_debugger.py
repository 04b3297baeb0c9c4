"""The drop-in for TensorFlow's debugger gives its numbers; `recorded/` has them for a small network."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive.rendering import page_of
from outlive.rendering.media.notebook import card_bundle

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


def test_the_worst_layers_come_first_and_the_card_names_them() -> None:
    debugger = outlive.QuantizationDebugger(quant_debug_model_path=DEBUG, debug_dataset=dataset)
    assert debugger.worst() == ()
    assert "not run yet" in card_bundle(page_of(debugger))["text/plain"]
    debugger.run()
    steps = {
        row["tensor_name"]: float(row["mean_squared_error"]) ** 0.5 / float(row["scale"])
        for row in csv.DictReader(io.StringIO(TENSORFLOW["csv"]))
    }
    worst = debugger.worst()
    assert [row.tensor_name for row in worst] == sorted(steps, key=lambda name: -steps[name])
    for row in worst:
        assert row.rmse_over_scale == pytest.approx(steps[row.tensor_name], rel=1e-3)
    assert debugger.worst(1) == worst[:1]
    card = card_bundle(page_of(debugger))
    assert worst[0].op_name in card["text/plain"]
    assert worst[0].tensor_name in card["text/html"]


def test_tensorflows_metrics_are_the_same_wherever_they_are_worked_out() -> None:
    """Alone they are worked out in the worker; beside one of the user's, on the values that come here."""
    found = []
    for more in (None, {"l1": lambda diffs: float(np.mean(np.abs(diffs)))}):
        debugger = outlive.QuantizationDebugger(
            quant_debug_model_path=DEBUG,
            debug_dataset=dataset,
            debug_options=outlive.QuantizationDebugOptions(layer_debug_metrics=more),
        )
        debugger.run()
        assert debugger.layer_statistics
        found.append(
            {
                name: {key: value for key, value in row.items() if key != "l1"}
                for name, row in debugger.layer_statistics.items()
            }
        )
    assert found[0] == found[1]


def test_what_the_dataset_raises_is_raised() -> None:
    def broken() -> Iterator[list[Any]]:
        yield from list(dataset())[:2]
        raise LookupError("no more images")

    debugger = outlive.QuantizationDebugger(quant_debug_model_path=DEBUG, debug_dataset=broken)
    with pytest.raises(LookupError, match="no more images"):
        debugger.run()


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


def test_a_converter_that_is_not_tensorflows_runs_here_and_its_error_is_its_own(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="has no len"):
        outlive.QuantizationDebugger(converter=Converter(tmp_path / "notes"), debug_dataset=dataset)
    assert (tmp_path / "notes").read_text().split() == [str(os.getpid())]
