"""The models that ship with the package: rebuilt byte for byte, and run by LiteRT in other processes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from outlive import demo_models

TOOL = Path(__file__).parents[2] / "tools" / "build_models.py"
RESOLVERS = ("AUTO", "BUILTIN_WITHOUT_DEFAULT_DELEGATES")

# Prints each stage before it begins, so that the last line of a dead process names the stage of its death.
RUN = """
import sys
import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

path, resolver, samples, results = sys.argv[1:]
print("load", flush=True)
interpreter = Interpreter(path, experimental_op_resolver_type=OpResolverType[resolver])
print("allocate", flush=True)
interpreter.allocate_tensors()
[source], [output] = interpreter.get_input_details(), interpreter.get_output_details()

def numbers(values, entry):
    scale, zero_point = entry["quantization"]
    return np.clip(np.rint(values / scale) + zero_point, -128, 127).astype(np.int8) if scale else values

def values(numbers, entry):
    scale, zero_point = entry["quantization"]
    return (numbers.astype(np.float32) - zero_point) * scale if scale else numbers

seen = []
for sample in np.load(samples):
    interpreter.set_tensor(source["index"], numbers(sample[None], source))
    print("invoke", flush=True)
    interpreter.invoke()
    seen.append(values(interpreter.get_tensor(output["index"]), output)[0])
np.save(results, seen)
print("done", flush=True)
"""

DETAILS = """
import json, sys
from ai_edge_litert.interpreter import Interpreter
signature = Interpreter(sys.argv[1]).get_signature_list()["serving_default"]
interpreter = Interpreter(sys.argv[1])
[source], [output] = interpreter.get_input_details(), interpreter.get_output_details()
interpreter.resize_tensor_input(source["index"], [3, *source["shape"][1:].tolist()])
interpreter.allocate_tensors()
print(json.dumps({
    "signature": signature,
    "shape": source["shape_signature"].tolist(),
    "quantization": output["quantization"],
    "batch of three": interpreter.get_tensor(output["index"]).shape,
}))
"""


def pictures(count: int, side: int = 64, seed: int = 2024) -> NDArray[np.float32]:
    """Two colours in coarse patches, with noise; other pictures than those of the calibration."""
    random = np.random.RandomState(seed)
    ground, colour = random.uniform(-1, 1, (2, count, 1, 1, 3))
    patches = random.randint(0, 2, (count, 8, 8, 1)).repeat(side // 8, axis=1).repeat(side // 8, axis=2)
    noise = random.uniform(-0.2, 0.2, (count, side, side, 3))
    clipped: NDArray[np.float32] = np.clip(np.where(patches, colour, ground) + noise, -1, 1).astype(
        np.float32
    )
    return clipped


def start(name: str, resolver: str, samples: NDArray[Any], folder: Path) -> subprocess.CompletedProcess[str]:
    np.save(folder / "samples.npy", samples)
    places = [str(demo_models.path(name)), resolver, str(folder / "samples.npy"), str(folder / "results.npy")]
    command = [sys.executable, "-c", RUN, *places]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def results(name: str, resolver: str, samples: NDArray[Any], folder: Path) -> NDArray[Any]:
    done = start(name, resolver, samples, folder)
    assert done.returncode == 0, done.stderr
    outputs: NDArray[Any] = np.load(folder / "results.npy")
    return outputs


def decibels(truth: NDArray[Any], seen: NDArray[Any]) -> float:
    """Signal to quantization noise."""
    return float(10 * np.log10(np.sum(truth**2) / np.sum((truth - seen) ** 2)))


def test_rebuilding_gives_the_same_bytes(tmp_path: Path) -> None:
    command = [sys.executable, str(TOOL), "--into", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    assert {file.name for file in tmp_path.iterdir()} == {demo.file for demo in demo_models.DEMO_MODELS}
    for demo in demo_models.DEMO_MODELS:
        assert (tmp_path / demo.file).read_bytes() == demo_models.path(demo.name).read_bytes(), demo.name


def test_the_files_are_small() -> None:
    sizes = {name: demo_models.path(name).stat().st_size for name in demo_models.NAMES}
    assert 30_000 < sizes["healthy"] < 150_000
    assert sizes["too_big"] < 50_000
    assert sum(sizes.values()) < 400_000


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'sickly'; choose from healthy, healthy_int8, deadly"):
        demo_models.path("sickly")


@pytest.mark.parametrize("resolver", RESOLVERS)
def test_the_healthy_model_tells_pictures_apart(resolver: str, tmp_path: Path) -> None:
    outputs = results("healthy", resolver, pictures(100), tmp_path)
    np.testing.assert_allclose(outputs.sum(axis=1), 1, atol=1e-5)
    assert len(set(outputs.argmax(axis=1).tolist())) >= 6
    assert np.median(outputs.max(axis=1)) < 0.9


@pytest.mark.parametrize("resolver", RESOLVERS)
def test_the_int8_twin_agrees_with_the_healthy_model(resolver: str, tmp_path: Path) -> None:
    samples = pictures(200)
    truth = results("healthy", resolver, samples, tmp_path)
    twin = results("healthy_int8", resolver, samples, tmp_path)
    agreement = float(np.mean(truth.argmax(axis=1) == twin.argmax(axis=1)))
    noise = decibels(truth, twin)
    assert agreement > 0.9, f"{agreement:.1%} of the first places agree, SQNR {noise:.1f} dB"
    assert 22 < noise < 60, f"SQNR {noise:.1f} dB"


@pytest.mark.parametrize("name", ["healthy", "healthy_int8"])
def test_the_healthy_models_have_a_signature_and_any_batch_size(name: str) -> None:
    command = [sys.executable, "-c", DETAILS, str(demo_models.path(name))]
    details = json.loads(subprocess.run(command, check=True, capture_output=True, timeout=300).stdout)
    assert details["signature"] == {"inputs": ["image"], "outputs": ["probabilities"]}
    assert details["shape"] == [-1, 64, 64, 3]
    assert details["batch of three"] == [3, 10]
    assert details["quantization"] == ([0.0, 0] if name == "healthy" else [1 / 256, -128])


def test_the_wasteful_model_runs_alike_with_and_without_delegates(tmp_path: Path) -> None:
    samples = pictures(20, side=32)
    default, builtin = (results("wasteful", resolver, samples, tmp_path) for resolver in RESOLVERS)
    np.testing.assert_allclose(default, builtin, atol=0.02)
    assert np.ptp(default, axis=0).max() > 0.1


@pytest.mark.skipif(not hasattr(signal, "SIGSEGV") or sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize("resolver", RESOLVERS)
def test_the_deadly_model_dies_in_invoke(resolver: str, tmp_path: Path) -> None:
    died = start("deadly", resolver, pictures(1, side=32), tmp_path)
    assert died.returncode == -signal.SIGSEGV, died.stderr
    assert died.stdout.splitlines()[-1] == "invoke"


def test_the_deadly_model_runs_with_reference_kernels(tmp_path: Path) -> None:
    assert np.isfinite(results("deadly", "BUILTIN_REF", pictures(1, side=32), tmp_path)).all()
