"""Samples that TensorFlow takes in silence, or dies of, are refused inside a guard."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from tests.deaths.scenes import PATH

# TensorFlow warns of its own parts, and a worker has the filters of its caller.
pytestmark = pytest.mark.filterwarnings("default")


def calibrate(samples: list[Any]) -> bytes:
    """What people write: a converter with a representative dataset."""
    import tensorflow as tf

    traced = tf.function(lambda x: tf.nn.relu(tf.matmul(x, tf.ones([8, 4])))).get_concrete_function(
        tf.TensorSpec([1, 8])
    )
    converter = tf.lite.TFLiteConverter.from_concrete_functions([traced])
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: iter([[sample] for sample in samples])
    return bytes(converter.convert())


def debug(sample: Any) -> None:
    """And a quantization debugger on top."""
    import tensorflow as tf

    def samples() -> Any:
        return iter([[np.ones((1, 8), np.float32)]])

    model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(4)])
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = samples
    debugger = tf.lite.experimental.QuantizationDebugger(
        converter=converter, debug_dataset=lambda: iter([[sample]])
    )
    debugger.run()


@pytest.mark.parametrize(
    ("samples", "code"),
    [
        ([], "Q210"),
        ([np.full((1, 8), np.nan, np.float32)], "Q211"),
        ([np.full((1, 8), np.inf, np.float32)], "Q212"),
        ([np.zeros((1, 9), np.float32)], "Q216"),
        ([np.zeros((1, 8), np.float64)], "Q216"),
    ],
    ids=["none", "nan", "infinite", "shape", "type"],
)
def test_bad_samples_are_refused(samples: list[Any], code: str) -> None:
    with pytest.raises(outlive.InputError) as caught:
        outlive.guard(calibrate, seconds=120)(samples)
    assert (caught.value.finding.code, caught.value.finding.cause) == (code, "representative-dataset")


def test_good_samples_pass() -> None:
    made = outlive.guard(calibrate, seconds=120)([np.ones((1, 8), np.float32)] * 3)
    assert outlive.read(made).outputs[0].shape == (1, 4)
    assert any(tensor.dtype == "int8" for tensor in outlive.read(made).subgraphs[0].tensors)


def test_the_debugger_refuses_another_shape() -> None:
    with pytest.raises(outlive.InputError) as caught:
        outlive.guard(debug, seconds=120)(np.zeros((1, 9), np.float32))
    assert caught.value.finding.code == "Q216"
    assert "debugger" in caught.value.finding.where


def test_the_debugger_takes_the_right_one() -> None:
    assert outlive.guard(debug, seconds=120)(np.ones((1, 8), np.float32)) is None


SCRIPT = """
import numpy as np
from tests.tensorflow.test_calibration import calibrate
calibrate([np.zeros((1, 9), np.float32)])
"""


def test_a_script_has_the_findings_of_a_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "convert.py"
    script.write_text(SCRIPT)
    monkeypatch.setenv("PYTHONPATH", PATH)
    end = outlive.guard(str(script), seconds=120)()
    assert [finding.code for finding in end.findings] == ["Q216"]
    record = tmp_path / "record.json"
    command = [sys.executable, "-m", "outlive", "guard", "--format", "json", "--output", str(record)]
    subprocess.run([*command, str(script)], capture_output=True, check=False, timeout=120)
    assert [finding["code"] for finding in json.loads(record.read_text())["findings"]] == ["Q216"]
