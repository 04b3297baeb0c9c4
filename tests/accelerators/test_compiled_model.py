"""The drop-in CompiledModel: LiteRT's own answers, checked buffers, and deaths that are exceptions."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive import CompiledModel, HardwareAccelerator, TensorBuffer
from tests.accelerators.here import needs_gpu, needs_openvino
from tests.accelerators.small_models import SHAPE, line
from tests.interpreter.dropin_models import added, signed

VALUES = np.linspace(-1, 1, 32, dtype=np.float32).reshape(SHAPE)
# The same questions, asked of LiteRT's own class in a process of its own.
QUESTIONS = """
import json, sys
import numpy as np
if sys.argv[2] == "litert":
    from ai_edge_litert.compiled_model import CompiledModel
else:
    from outlive import CompiledModel
model = CompiledModel.from_file(sys.argv[1])
answers = {"signatures": model.get_signature_list(), "count": model.get_num_signatures(), "rows": []}
for index, key in enumerate(model.get_signature_list()):
    inputs, outputs = model.create_input_buffers(index), model.create_output_buffers(index)
    names = model.get_signature_list()[key]
    for place, buffer in enumerate(inputs):
        size = int(np.prod(buffer.get_tensor_details()["shape"]))
        buffer.write(np.arange(size, dtype=np.float32) + place)
    model.run_by_index(index, inputs, outputs)
    details = [buffer.get_tensor_details() for buffer in outputs]
    values = [b.read(int(np.prod(d["shape"])), np.float32).tolist() for b, d in zip(outputs, details)]
    given, made = model.get_input_tensor_details(key), model.get_output_tensor_details(key)
    by_name = {name: model.create_output_buffer_by_name(key, name) for name in names["outputs"]}
    model.run_by_name(key, dict(zip(names["inputs"], inputs)), by_name)
    again = [by_name[n].read(int(np.prod(made[n]["shape"])), np.float32).tolist() for n in names["outputs"]]
    answers["rows"].append([model.get_signature_index(key), given, made, details, values, again,
                            model.get_signature_by_index(index),
                            model.get_input_buffer_requirements(0, index),
                            model.get_output_buffer_requirements(0, index), model.is_fully_accelerated()])
answers["nowhere"] = model.get_signature_index("nowhere")
print("ANSWERS" + json.dumps(answers))
"""


def answers(path: Path, whose: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", QUESTIONS, str(path), whose], capture_output=True, text=True, check=False
    )
    lines = [row for row in done.stdout.splitlines() if row.startswith("ANSWERS")]
    assert lines, done.stderr[-2000:]
    return json.loads(lines[0].removeprefix("ANSWERS"))


@pytest.mark.parametrize("made", [line("ADD", "MUL"), added(), signed()], ids=["line", "added", "signed"])
def test_it_answers_as_litert_does(made: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(made)
    assert answers(path, "outlive") == answers(path, "litert")


def test_from_bytes_with_values_in_a_row_or_in_shape() -> None:
    with CompiledModel.from_buffer(line("ADD")) as model:
        (given,), (made,) = model.create_input_buffers(0), model.create_output_buffers(0)
        for values in (VALUES, VALUES.reshape(-1), VALUES[0]):
            given.write(values)
            model.run_by_index(0, [given], [made])
            np.testing.assert_array_equal(made.read(32, np.float32), 2 * VALUES.reshape(-1))


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(VALUES.reshape(-1)[:31], id="short"),
        pytest.param(np.append(VALUES.reshape(-1), np.float32(1)), id="long"),
        pytest.param(VALUES.astype(np.float64), id="double"),
        pytest.param(np.zeros(SHAPE, np.int8), id="int8"),
        pytest.param(np.zeros((1, 2, 4, 4), np.float32), id="channels-first"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(value: Any) -> None:
    buffer = TensorBuffer({"name": "x", "index": 0, "dtype": "float32", "shape": SHAPE})
    buffer.write(VALUES)
    with pytest.raises(outlive.InputError) as caught:
        buffer.write(value)
    assert caught.value.finding.code.startswith("I2")
    np.testing.assert_array_equal(buffer.read(32, np.float32), VALUES.reshape(-1))


@pytest.mark.parametrize(
    ("count", "kind"), [(31, np.float32), (33, np.float32), (32, np.int32), (-1, np.float32)]
)
def test_reading_another_number_or_type_is_refused(count: int, kind: Any) -> None:
    buffer = TensorBuffer({"name": "y", "index": 1, "dtype": "float32", "shape": SHAPE})
    with pytest.raises(outlive.InputError):
        buffer.read(count, kind)


def test_a_destroyed_buffer_is_not_used() -> None:
    with CompiledModel.from_buffer(line("ADD")) as model:
        inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
        outputs[0].destroy()
        with pytest.raises(ValueError, match="destroyed"):
            model.run_by_index(0, inputs, outputs)


def test_buffers_of_the_wrong_number_shape_or_name_are_refused() -> None:
    with CompiledModel.from_buffer(line("ADD")) as model:
        inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
        small = TensorBuffer.create_from_host_memory(np.zeros(3, np.float32))
        key = next(iter(model.get_signature_list()))
        with pytest.raises(ValueError, match="1 inputs, and 0 buffers"):
            model.run_by_index(0, [], outputs)
        with pytest.raises(ValueError, match="output 0 is float32"):
            model.run_by_index(0, inputs, [small])
        with pytest.raises(ValueError, match="no output is named"):
            model.run_by_name(
                key, {model.get_signature_list()[key]["inputs"][0]: inputs[0]}, {"z": outputs[0]}
            )
        with pytest.raises(ValueError, match="unknown signature 7"):
            model.create_input_buffers(7)
        with pytest.raises(ValueError, match="unknown signature 99"):
            model.get_signature_by_index(99)
        with pytest.raises(ValueError, match="there is no input 3"):
            model.get_input_buffer_requirements(3)
        with pytest.raises(ValueError, match="there is no output -1"):
            model.get_output_buffer_requirements(-1)
        with pytest.raises(ValueError, match="there is no input 5"):
            model.resize_input_tensor(5, [1])


def test_a_resized_input_wants_new_buffers() -> None:
    with CompiledModel.from_buffer(line("ADD")) as model:
        old = model.create_input_buffers(0), model.create_output_buffers(0)
        model.resize_input_tensor(0, [2, 4, 4, 2], strict=False)
        with pytest.raises(ValueError, match="make buffers anew after a resize"):
            model.run_by_index(0, *old)
        (given,), (made,) = model.create_input_buffers(0), model.create_output_buffers(0)
        given.write(np.ones((2, 4, 4, 2), np.float32))
        model.run_by_index(0, [given], [made])
        assert made.read(64, np.float32).tolist() == [2.0] * 64


def test_a_truncated_file_that_kills_litert_is_an_exception(tmp_path: Path) -> None:
    path = tmp_path / "cut.tflite"
    path.write_bytes(line("ADD", "MUL")[:300])
    with pytest.raises((outlive.OutliveError, ValueError, RuntimeError)):
        CompiledModel.from_file(str(path))


def test_a_death_is_an_exception_with_a_flight() -> None:
    model = CompiledModel.from_buffer(line("ADD"))
    inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
    os.kill(model.pid, signal.SIGSEGV)
    with pytest.raises(outlive.ModelDied) as caught:
        model.run_by_index(0, inputs, outputs)
    assert caught.value.flight.signal == "SIGSEGV"
    model.close()
    with pytest.raises(RuntimeError, match="closed"):
        model.get_num_signatures()


@needs_gpu
def test_the_gpu() -> None:
    both = HardwareAccelerator.GPU | HardwareAccelerator.CPU
    with CompiledModel.from_buffer(line("ADD", "MUL"), hardware_accel=both, seconds=300) as model:
        assert model.is_fully_accelerated()
        (given,), (made,) = model.create_input_buffers(0), model.create_output_buffers(0)
        given.write(VALUES)
        model.run_by_index(0, [given], [made])
        np.testing.assert_allclose(
            made.read(32, np.float32), (2 * VALUES.reshape(-1)) ** 2, rtol=1e-2, atol=1e-3
        )


@needs_openvino
def test_the_npu_on_openvinos_cpu_backend() -> None:
    options = {
        "hardware_accelerators": HardwareAccelerator.NPU | HardwareAccelerator.CPU,
        "intel_openvino_options": {"graph_backend": "CPU"},
    }
    with CompiledModel.from_buffer(line("ADD", "MUL"), options=options) as model:
        (given,), (made,) = model.create_input_buffers(0), model.create_output_buffers(0)
        given.write(VALUES)
        model.run_by_index(0, [given], [made])
        np.testing.assert_allclose(
            made.read(32, np.float32), (2 * VALUES.reshape(-1)) ** 2, rtol=1e-2, atol=1e-3
        )


def test_options_and_hardware_accel_are_not_given_together() -> None:
    with pytest.raises(ValueError, match="not both"):
        CompiledModel.from_buffer(line("ADD"), hardware_accel=1, options={})


def test_an_option_that_there_is_not_is_named() -> None:
    with pytest.raises(ValueError, match="unknown option 'speed'"):
        CompiledModel.from_buffer(line("ADD"), options={"cpu_options": {"speed": 9}})


def test_an_environment_cannot_move_to_the_worker() -> None:
    with pytest.raises(TypeError, match="cannot move to the worker"):
        CompiledModel.from_buffer(line("ADD"), environment=object())
