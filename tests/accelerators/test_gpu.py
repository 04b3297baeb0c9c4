"""The GPU for real, through CompiledModel in a worker: what it takes, refuses, computes, and kills."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive.accelerators import Accelerator
from outlive.interpreter.ladder import gpu_way
from tests.accelerators.here import needs_gpu
from tests.accelerators.small_models import SHAPE, five_axes, line
from tests.interpreter.dropin_models import signed

pytestmark = needs_gpu

# Compiles, runs and reads as a user would by hand; prints `ran`, or dies, or raises.
BY_HAND = """
import sys
import numpy as np
from ai_edge_litert.compiled_model import CompiledModel, HardwareAccelerator as H
model = CompiledModel.from_file(sys.argv[1], hardware_accel=H.GPU | H.CPU)
key = next(iter(model.get_signature_list()))
names = model.get_signature_list()[key]
given, made = model.get_input_tensor_details(key), model.get_output_tensor_details(key)
inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
for name, buffer in zip(names["inputs"], inputs):
    buffer.write(np.zeros(given[name]["shape"], given[name]["dtype"]))
model.run_by_index(0, inputs, outputs)
for name, buffer in zip(names["outputs"], outputs):
    buffer.read(int(np.prod(made[name]["shape"])), np.dtype(made[name]["dtype"]))
print("ran", flush=True)
"""
# Of the corpus: two that kill their process, two that raise, two that run, in whole and in part.
BY_NAME = ("group_norm", "yamnet_audio", "while_dynamic", "embedding_lookup", "simple_elu", "ptq_mnist")


def tried(source: Any, name: str = "gpu") -> Accelerator:
    return outlive.probe(source, only=[name], cache=False)[name]


def test_a_model_that_it_takes_whole() -> None:
    seen = tried(line("ADD", "MUL", "ADD"))
    assert (seen.outcome, seen.taken, seen.partitions, seen.refused) == ("runs", (0, 1, 2), 1, ())
    assert seen.device
    assert seen.difference is not None
    assert seen.difference.largest <= seen.difference.allowed
    assert [(item.name, item.into) for item in seen.crossings] == [("t0", True), ("t3", False)]


def test_operators_of_rank_five_are_refused_by_name() -> None:
    seen = tried(five_axes())
    assert seen.runs
    assert seen.ops_taken == 1
    refused = {item.op: item for item in seen.refused}
    assert {1, 2} <= set(refused)
    assert "less than 5" in refused[1].reason
    assert max(would.ops_taken for would in seen.what_ifs) > 1
    assert refused[1].source == "its own report"


def test_an_operator_that_it_does_not_have() -> None:
    seen = tried(line("ATAN2"))
    assert (seen.runs, seen.ops_taken, seen.partitions) == (True, 0, 0)
    assert [(item.op, item.type) for item in seen.refused] == [(0, "ATAN2")]


def test_it_takes_the_largest_partition_only() -> None:
    seen = tried(line("ADD", "ATAN2", "MUL", "ADD", "MUL"))
    assert (seen.taken, seen.partitions) == ((2, 3, 4), 1)
    reasons = {item.op: item.reason for item in seen.refused}
    assert set(reasons) == {0, 1}
    assert "largest partition" in reasons[0]
    assert [(item.name, item.into) for item in seen.crossings] == [("t2", True), ("t5", False)]


def test_software_is_said_to_be_software() -> None:
    seen = tried(line("ADD"))
    if "SwiftShader" not in seen.device:
        pytest.skip(f"this machine has a GPU of its own, {seen.device}")
    assert seen.is_software
    assert outlive.probe(line("ADD"), only=["gpu"], cache=False).best != seen


def test_without_a_driver_it_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VK_ICD_FILENAMES", "/nowhere/none.json")
    seen = tried(line("ADD"))
    assert (seen.available, seen.outcome, seen.runs) == (False, "absent", None)
    assert "no GPU and no software Vulkan found" in seen.unavailable
    assert "chromium" in seen.install


def test_asked_for_by_name_without_a_driver_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VK_ICD_FILENAMES", "/nowhere/none.json")
    with pytest.raises(outlive.RuntimeMissing) as caught:
        outlive.Interpreter(model_content=line("ADD"), accelerator="gpu")
    assert caught.value.finding.code == "A810"


def test_single_precision_agrees_to_the_bit_or_nearly() -> None:
    seen = tried(line("MUL", "MUL"), "gpu-float32")
    assert seen.difference is not None
    assert seen.difference.largest <= 1e-6


def test_an_interpreter_on_the_gpu_is_an_interpreter() -> None:
    values = np.linspace(-1, 1, 32, dtype=np.float32).reshape(SHAPE)
    with outlive.Interpreter(model_content=line("ADD", "MUL"), accelerator="gpu") as interpreter:
        interpreter.allocate_tensors()
        (given,), (made,) = interpreter.get_input_details(), interpreter.get_output_details()
        assert (given["name"], made["name"], list(made["shape"])) == ("t0", "t2", SHAPE)
        for factor in (1, 2):
            interpreter.set_tensor(given["index"], values * np.float32(factor))
            interpreter.invoke()
            found = interpreter.get_tensor(made["index"])
            np.testing.assert_allclose(found, (2 * factor * values) ** 2, rtol=1e-2, atol=1e-3)
        with pytest.raises(outlive.InputError):
            interpreter.set_tensor(given["index"], values[0])
        assert interpreter.accelerator == "gpu"


def test_a_tensor_in_between_cannot_be_had() -> None:
    with outlive.Interpreter(model_content=line("ADD", "MUL"), accelerator="gpu") as interpreter:
        interpreter.allocate_tensors()
        interpreter.invoke()
        with pytest.raises(ValueError, match="keeps its tensors to itself"):
            interpreter.get_tensor(1)


def test_signatures_run_on_the_gpu_too() -> None:
    made = signed()
    with (
        outlive.Interpreter(model_content=made) as plain,
        outlive.Interpreter(model_content=made, accelerator="gpu") as interpreter,
    ):
        for key, ends in plain.get_signature_list().items():
            arguments = _arguments(plain.get_signature_runner(key))
            expected = plain.get_signature_runner(key)(**arguments)
            found = interpreter.get_signature_runner(key)(**arguments)
            assert sorted(found) == sorted(ends["outputs"])
            for name, value in expected.items():
                np.testing.assert_allclose(found[name], value, rtol=1e-2, atol=1e-3)


def _arguments(runner: Any) -> dict[str, Any]:
    rows = runner.get_input_details()
    return {
        name: np.full(row["shape"], place + 1, row["dtype"]) for place, (name, row) in enumerate(rows.items())
    }


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ({"experimental_delegates": [outlive.load_delegate("x.so")]}, "an interpreter's"),
        ({"runtime": "tflite_runtime"}, "needs the runtime litert"),
    ],
)
def test_what_only_an_interpreter_has_is_refused(asked: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        outlive.Interpreter(model_content=line("ADD"), accelerator="gpu", **asked)


@pytest.mark.corpus
def test_corpus_models_end_as_they_do_by_hand(corpus_models: tuple[Path, ...]) -> None:
    chosen = [path for path in corpus_models if any(name in path.name for name in BY_NAME)]
    assert len(chosen) >= len(BY_NAME)
    wrong = []
    for path in chosen:
        hand = _by_hand(path)
        seen = outlive.probe(path, only=["gpu"], inputs="zeros", cache=False)["gpu"]
        ours = {"runs": "ran", "differs": "ran", "refused": "raised"}.get(seen.outcome, seen.outcome)
        if hand != ours:
            wrong.append((path.name, hand, ours))
    assert wrong == []


def _by_hand(path: Path) -> str:
    environment = {**os.environ, **gpu_way().environment}
    done = subprocess.run(
        [sys.executable, "-c", BY_HAND, str(path)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    if done.returncode < 0:
        return "died"
    return "ran" if "ran" in done.stdout else "raised"
