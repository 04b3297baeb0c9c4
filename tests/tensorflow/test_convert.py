"""Conversion outside of the caller."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive.cli.main import main
from outlive.units import Step

# TensorFlow warns of its own parts, and a worker has the filters of its caller.
pytestmark = pytest.mark.filterwarnings("default")

WIDE = np.random.default_rng(0).random((6, 64), dtype=np.float32)


def build() -> Any:
    import tensorflow as tf

    layers = tf.keras.layers
    return tf.keras.Sequential([tf.keras.Input((64,)), layers.Dense(128, activation="relu"), layers.Dense(8)])


def save_as(path: str) -> None:
    model = build()
    if path.endswith(".keras"):
        model.save(path)
    else:
        model.export(path)


def kinds(model: bytes) -> set[str]:
    return {str(tensor.dtype) for tensor in outlive.read(model).subgraphs[0].tensors}


def test_a_function_that_makes_a_model(tmp_path: Path) -> None:
    made = outlive.convert(build)
    made.save(tmp_path / "m.tflite")
    assert outlive.read(tmp_path / "m.tflite").inputs[0].shape == (1, 64)
    assert "int8" not in kinds(made.model)
    assert made.findings == ()


def test_a_function_of_tensors() -> None:
    made = outlive.convert(lambda x: x * 2, signature=[((1, 4), "float32")])
    flight = outlive.run(made.model, [np.arange(4, dtype=np.float32)[np.newaxis]])
    assert [list(value.ravel()) for value in flight.values.values()] == [[0, 2, 4, 6]]


@pytest.mark.parametrize("name", ["model.keras", "saved"])
def test_what_was_saved(tmp_path: Path, name: str) -> None:
    outlive.guard(save_as)(str(tmp_path / name))
    assert outlive.read(outlive.convert(tmp_path / name).model).outputs[0].shape == (1, 8)


def test_samples_quantize_it() -> None:
    seen: list[str] = []
    made = outlive.convert(
        build,
        samples=WIDE,
        supported_ops=["TFLITE_BUILTINS_INT8"],
        inference_input_type="int8",
        inference_output_type="int8",
        tell=seen.append,
    )
    assert (made.samples, made.findings) == (6, ())
    steps = [(step.steps, step.steps.total) for step in seen if isinstance(step, Step)]
    assert steps == [(number, 6) for number in range(1, 7)]
    assert (seen[0], seen[-1]) == ("converting to float, to check the samples", "quantizing")
    assert outlive.read(made.model).inputs[0].dtype == "int8"


def test_asked_to_quantize_and_got_float_is_an_error() -> None:
    made = outlive.convert(build, optimizations=["DEFAULT"], supported_types=["uint8"])
    told = [(finding.code, finding.severity.value, finding.evidence[-1].fact) for finding in made.findings]
    # TensorFlow 2.21 gives a float model without a word; a version that quantizes it is as good.
    asked = "supported_types asks for uint8"
    assert told == ([] if "int8" in kinds(made.model) else [("Q201", "error", asked)])
    assert outlive.convert(build, optimizations=["DEFAULT"]).findings == ()


def test_samples_are_checked_before_anything_is_converted() -> None:
    with pytest.raises(outlive.InputError) as caught:
        outlive.convert(build, samples=np.full((2, 64), np.nan, np.float32))
    assert caught.value.finding.code == "Q211"


def test_an_op_that_has_no_counterpart_is_named() -> None:
    def decompose(x: Any) -> Any:
        import tensorflow as tf

        return tf.linalg.svd(x)[0]

    with pytest.raises(outlive.ModelError) as caught:
        outlive.convert(decompose, signature=[((3, 3), "float32")])
    assert (caught.value.finding.code, caught.value.finding.where) == ("O125", "Svd")


def test_mistakes_are_told() -> None:
    with pytest.raises(TypeError, match=r"has no setting 'optimisations'; it has .*optimizations"):
        outlive.convert(build, optimisations=["DEFAULT"])
    with pytest.raises(FileNotFoundError, match="nothing to convert"):
        outlive.convert("no-such-folder")
    with pytest.raises(TypeError, match="not int"):
        outlive.convert(3)
    with pytest.raises(TypeError, match="the function returned a int"):
        outlive.convert(lambda: 3)


SCRIPT = """\
import os
import time

def build():
    import tensorflow as tf

    return tf.keras.Sequential([tf.keras.Input((64,)), tf.keras.layers.Dense(32)])

def scale(x):
    return x * 2

def breaks():
    raise KeyError("nothing of that name")

def dies():
    os.kill(os.getpid(), 11)

def hangs():
    time.sleep(3600)
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    (tmp_path / "build.py").write_text(SCRIPT)
    return str(tmp_path / "build.py")


def test_the_command_writes_a_model_and_says_what_is_in_it(
    script: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outlive.guard(save_as)(str(tmp_path / "model.keras"))
    target = tmp_path / "m.tflite"
    assert main(["convert", str(tmp_path / "model.keras"), "-o", str(target)]) == 0
    told = capsys.readouterr().out
    assert "2 operators" in told
    assert "?x64" in told
    assert outlive.read(target).outputs[0].shape == (1, 8)
    words = ["--signature", "1x4:float32", "--format", "json"]
    assert main(["convert", f"{script}::scale", "-o", str(target), *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["source"], found["operators"]) == ("convert", f"{script}::scale", 1)
    assert found["output"] == {"path": str(target), "file_bytes": target.stat().st_size}
    assert [row["shape"] for row in found["inputs"]] == [[1, 4]]


def test_the_command_quantizes_with_samples(
    script: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "samples.npy", WIDE)
    words = ["convert", f"{script}::build", "-o", str(tmp_path / "m.tflite"), "--format", "json"]
    words += ["--samples", str(tmp_path / "samples.npy"), "--setting", "supported_ops=TFLITE_BUILTINS_INT8"]
    assert main([*words, "--setting", "inference_input_type=int8"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [row["code"] for row in found["findings"]] == ["Q201"], "the output was left float"
    assert found["settings"] == {"supported_ops": ["TFLITE_BUILTINS_INT8"], "inference_input_type": "int8"}
    assert (found["samples"], found["inputs"][0]["dtype"]) == (6, "int8")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["build.py::breaks"], 1, "KeyError: 'nothing of that name'"),
        (["build.py::dies"], 3, "SIGSEGV"),
        (["build.py::none"], 2, "has no function none"),
        (["nowhere.keras"], 2, "nothing to convert"),
        (["model.tflite"], 2, "already a .tflite file"),
        (["build.py::build", "--setting", "optimizations"], 2, "write it as optimizations=DEFAULT"),
        (["build.py::scale", "--signature", "4"], 2, "write 1x4:float32"),
        (["build.py::hangs", "--seconds", "0.2"], 3, "D503"),
    ],
)
def test_the_command_says_what_is_wrong(
    words: list[str], code: int, said: str, script: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(script).parent
    (folder / "model.tflite").write_bytes(b"")
    target = folder / "out.tflite"
    assert main(["convert", str(folder / words[0]), *words[1:], "-o", str(target)]) == code
    assert said in capsys.readouterr().err
    assert not target.exists()
