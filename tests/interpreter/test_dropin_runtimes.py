"""Other runtimes and other Pythons: the one asked for runs, and one that is missing is named."""

from __future__ import annotations

import importlib.util
import os
import sys
import venv
from pathlib import Path

import numpy as np
import pytest

import outlive
from outlive import demo_models
from tests.interpreter.dropin_models import MODELS

OLD_PYTHON = os.environ.get("OUTLIVE_OLD_PYTHON", "")


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python environment in which nothing is installed."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False, symlinks=True)
    return str(folder / "bin" / "python")


def test_a_python_without_the_runtime_is_named(bare_python: str) -> None:
    with pytest.raises(outlive.RuntimeMissing) as caught:
        outlive.Interpreter(model_content=MODELS["relu"](), python=bare_python)
    assert caught.value.finding.code == "E401"
    assert isinstance(caught.value, ImportError)


def test_a_python_that_is_not_there_is_named() -> None:
    with pytest.raises((outlive.RuntimeMissing, OSError), match="no/such/python"):
        outlive.Interpreter(model_content=MODELS["relu"](), python="/no/such/python")


def test_a_runtime_that_is_not_installed_is_named() -> None:
    with pytest.raises(outlive.RuntimeMissing, match="tflite_runtime") as caught:
        outlive.Interpreter(model_content=MODELS["relu"](), runtime="tflite_runtime")
    assert caught.value.finding.code == "E401"


def test_a_runtime_that_does_not_exist_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="nonsense"):
        outlive.Interpreter(model_content=MODELS["relu"](), runtime="nonsense")


@pytest.mark.skipif(
    not OLD_PYTHON,
    reason="set OUTLIVE_OLD_PYTHON to the python of an environment with tflite-runtime 2.14 and numpy<2",
)
def test_an_old_runtime_in_an_old_python_runs_the_model() -> None:
    with outlive.Interpreter(
        model_content=MODELS["chain"](), python=OLD_PYTHON, runtime="tflite_runtime"
    ) as interpreter:
        interpreter.allocate_tensors()
        interpreter.set_tensor(0, np.ones((1, 4), np.float32))
        interpreter.invoke()
        assert interpreter.get_tensor(3).tolist() == [[4, 9, 16, 25]]
        assert interpreter.story().runtime["runtime"] == "tflite_runtime"
        assert Path(interpreter.story().runtime["file"]).is_relative_to(Path(OLD_PYTHON).parents[1])


def _tensorflow_python() -> str:
    named = os.environ.get("OUTLIVE_TENSORFLOW_PYTHON", "")
    return named or (sys.executable if importlib.util.find_spec("tensorflow") else "")


with_tensorflow = pytest.mark.skipif(
    not _tensorflow_python(),
    reason="pip install tensorflow-cpu, or set OUTLIVE_TENSORFLOW_PYTHON to the python of an environment "
    "that has it",
)


@with_tensorflow
def test_tensorflows_own_interpreter_runs_the_model() -> None:
    with outlive.Interpreter(
        model_content=MODELS["chain"](), python=_tensorflow_python(), runtime="tensorflow"
    ) as interpreter:
        interpreter.allocate_tensors()
        interpreter.set_tensor(0, np.ones((1, 4), np.float32))
        for _ in range(3):
            interpreter.invoke()
        assert interpreter.get_tensor(3).tolist() == [[4, 9, 16, 25]]
        assert interpreter.story().runtime["runtime"] == "tensorflow"


@with_tensorflow
def test_tensorflows_interpreter_dies_alone() -> None:
    interpreter = outlive.Interpreter(
        model_path=demo_models.path("deadly"), python=_tensorflow_python(), runtime="tensorflow"
    )
    interpreter.allocate_tensors()
    with pytest.raises(outlive.ModelDied) as caught:
        interpreter.invoke()
    assert (caught.value.flight.signal, caught.value.flight.stage) == ("SIGSEGV", "invoke")
