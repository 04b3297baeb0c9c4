"""The ladder: what is chosen for a model, what is left out and why, and how a death is stepped over."""

from __future__ import annotations

import os
import signal
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive.interpreter import ladder as compiled_ladder
from outlive.interpreter.feeds import make_feeds
from outlive.interpreter.ladder import AcceleratorWarning, gpu_way, has_gpu, software_driver
from tests.accelerators.here import needs_gpu, needs_openvino
from tests.accelerators.small_models import SHAPE, line

CPU_ONLY = ("cpu", "builtin", "reference")
VALUES = np.linspace(-1, 1, 32, dtype=np.float32).reshape(SHAPE)


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test chooses anew."""
    monkeypatch.setattr(compiled_ladder, "_chosen", {})


def test_the_first_that_is_fit_is_taken() -> None:
    with outlive.Interpreter(
        model_content=line("ADD", "ATAN2"), accelerator="auto", ladder=CPU_ONLY
    ) as interpreter:
        assert (interpreter.accelerator, interpreter.skipped) == ("cpu", ())


@needs_gpu
@pytest.mark.skipif(has_gpu(), reason="this machine has a GPU of its own, which may well be chosen")
def test_a_software_gpu_is_left_out_and_told_once() -> None:
    made = line("ADD", "MUL")
    with pytest.warns(AcceleratorWarning, match="gpu is not used"):
        first = outlive.Interpreter(model_content=made, accelerator="auto")
    with first:
        assert first.accelerator == "cpu"
        assert "software" in dict(first.skipped)["gpu"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outlive.Interpreter(model_content=made, accelerator="auto").close()


@needs_gpu
def test_a_software_gpu_is_found_out_by_trying(monkeypatch: pytest.MonkeyPatch) -> None:
    """The user has set the driver, so that nobody knows beforehand that it is software."""
    driver = software_driver()
    if driver is None:
        pytest.skip("needs SwiftShader: apt install chromium libvulkan1")
    monkeypatch.setenv("VK_ICD_FILENAMES", str(driver))
    with pytest.warns(AcceleratorWarning):
        interpreter = outlive.Interpreter(model_content=line("ADD", "MUL"), accelerator="auto")
    interpreter.close()
    assert "software" in dict(interpreter.skipped)["gpu"]


@needs_openvino
def test_an_npu_is_taken_or_said_to_be_slower() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AcceleratorWarning)
        interpreter = outlive.Interpreter(
            model_content=line("ADD", "MUL"), accelerator="auto", ladder=("npu", "cpu")
        )
    with interpreter:
        assert interpreter.accelerator in ("npu", "cpu")
        assert (interpreter.accelerator == "cpu") == ("npu" in dict(interpreter.skipped))


def test_a_death_is_stepped_over_and_the_result_is_right() -> None:
    interpreter = outlive.Interpreter(model_content=line("ADD", "MUL"), accelerator="auto", ladder=CPU_ONLY)
    with interpreter:
        interpreter.allocate_tensors()
        interpreter.set_tensor(0, VALUES)
        interpreter.invoke()
        _kill(interpreter.pid)
        with pytest.warns(AcceleratorWarning, match="cpu is left"):
            interpreter.invoke()
        np.testing.assert_allclose(interpreter.get_tensor(2), (2 * VALUES) ** 2, rtol=1e-6)
        assert interpreter.accelerator == "builtin"
        assert [name for name, _ in interpreter.skipped] == ["cpu"]
        interpreter.set_tensor(0, 2 * VALUES)
        interpreter.invoke()
        np.testing.assert_allclose(interpreter.get_tensor(2), (4 * VALUES) ** 2, rtol=1e-6)


@needs_gpu
def test_a_death_on_the_gpu_is_stepped_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine with a real GPU: software is taken for fit here."""
    monkeypatch.setattr(compiled_ladder, "_unfit", lambda name, ladder, tried: "")
    interpreter = outlive.Interpreter(model_content=line("ADD", "MUL"), accelerator="auto")
    with interpreter:
        assert interpreter.accelerator == "gpu"
        interpreter.allocate_tensors()
        interpreter.set_tensor(0, VALUES)
        interpreter.invoke()
        np.testing.assert_allclose(interpreter.get_tensor(2), (2 * VALUES) ** 2, rtol=1e-2, atol=1e-3)
        _kill(interpreter.pid)
        with pytest.warns(AcceleratorWarning, match="gpu is left"):
            interpreter.invoke()
        assert interpreter.accelerator == "cpu"
        np.testing.assert_allclose(interpreter.get_tensor(2), (2 * VALUES) ** 2, rtol=1e-6)


@needs_gpu
@pytest.mark.corpus
def test_a_model_that_kills_the_gpu_while_it_compiles_runs_below(
    corpus_models: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled_ladder, "_NO_GPU", "")  # software would do
    monkeypatch.setattr(compiled_ladder, "gpu_way", _as_if_real)
    monkeypatch.setitem(compiled_ladder.COMPILED, "gpu", _as_if_real)
    deadly = next(path for path in corpus_models if "group_norm" in path.name)
    with pytest.warns(AcceleratorWarning, match=r"gpu is not used: .*SIGSEGV at load"):
        interpreter = outlive.Interpreter(str(deadly), accelerator="auto")
    with interpreter:
        interpreter.allocate_tensors()
        interpreter.invoke()
        assert interpreter.accelerator == "cpu"


def _as_if_real() -> Any:
    return replace(gpu_way(), is_software=False)


def test_a_death_before_tensors_are_allocated_is_stepped_over() -> None:
    interpreter = outlive.Interpreter(model_content=line("ADD"), accelerator="auto", ladder=CPU_ONLY)
    with interpreter:
        _kill(interpreter.pid)
        with pytest.warns(AcceleratorWarning, match="cpu is left"):
            interpreter.allocate_tensors()
        interpreter.set_tensor(0, VALUES)
        interpreter.invoke()
        np.testing.assert_allclose(interpreter.get_tensor(1), 2 * VALUES)


def test_below_the_last_rung_there_is_nothing() -> None:
    interpreter = outlive.Interpreter(model_content=line("ADD"), accelerator="auto", ladder=("builtin",))
    interpreter.allocate_tensors()
    _kill(interpreter.pid)
    with pytest.raises(outlive.ModelDied):
        interpreter.invoke()


def test_asked_for_by_name_nothing_is_stepped_over() -> None:
    interpreter = outlive.Interpreter(model_content=line("ADD"), accelerator="builtin")
    interpreter.allocate_tensors()
    _kill(interpreter.pid)
    with pytest.raises(outlive.ModelDied):
        interpreter.invoke()
    assert interpreter.accelerator == "builtin"


def test_a_wrong_input_is_no_reason_to_leave() -> None:
    with outlive.Interpreter(model_content=line("ADD"), accelerator="auto", ladder=CPU_ONLY) as interpreter:
        interpreter.allocate_tensors()
        with pytest.raises(outlive.InputError):
            interpreter.set_tensor(0, VALUES[0])
        assert interpreter.accelerator == "cpu"


@pytest.mark.parametrize("asked", [{"accelerator": "tpu"}, {"accelerator": "auto", "ladder": ("cpu", "tpu")}])
def test_a_name_that_there_is_not(asked: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="unknown accelerator 'tpu'"):
        outlive.Interpreter(model_content=line("ADD"), **asked)


def test_a_run_says_what_it_ran_on() -> None:
    flight = outlive.run(line("ADD"), accelerator="auto", ladder=CPU_ONLY)
    assert not flight.died
    assert (flight.runtime["accelerator"], flight.runtime["skipped"]) == ("cpu", [])


@pytest.mark.corpus
def test_corpus_models_have_a_right_result(corpus_manifest: dict[str, dict[str, Any]], corpus: Path) -> None:
    """Right is what the worker's plain LiteRT gives without a ladder; benchmarks/ has all models."""
    rows = [row for row in corpus_manifest.values() if row["outcome"] == "ok" and not row.get("custom_ops")]
    rows = sorted(rows, key=lambda row: row["size"])[: len(rows) // 3]
    assert len(rows) > 15
    wrong = []
    for row in rows:
        path = str(corpus / "models" / row["file"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AcceleratorWarning)
            chosen, plain = (_outputs(path, accelerator=name) for name in ("auto", "cpu"))
        if not all(
            np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(chosen, plain, strict=True)
        ):
            wrong.append(row["file"])
    assert wrong == []


def _outputs(path: str, **asked: Any) -> list[Any]:
    with outlive.Interpreter(path, **asked) as interpreter:
        interpreter.allocate_tensors()
        for index, value in make_feeds(interpreter.get_input_details(), "zeros").items():
            interpreter.set_tensor(index, value)
        interpreter.invoke()
        return [np.asarray(interpreter.get_tensor(row["index"])) for row in interpreter.get_output_details()]


def _kill(pid: int) -> None:
    """End a worker as a crash would, and wait until it is gone."""
    os.kill(pid, signal.SIGSEGV)
    while Path(f"/proc/{pid}").exists():
        time.sleep(0.01)
