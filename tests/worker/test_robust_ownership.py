"""Whatever an open takes, it gives back on every path: refused files, a file broken before a restart."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import outlive
from outlive.errors import OutliveError
from tests.deaths import scenes
from tests.worker.dropin_models import ranged

_TIMES = 30


@pytest.mark.parametrize("arguments", [{"model_path": "/nonexistent.tflite"}, {"model_content": b"bad" * 40}])
def test_refused_opens_leave_nothing(arguments: dict[str, object]) -> None:
    with scenes.nothing_left_behind():
        for _ in range(_TIMES):
            with pytest.raises(OutliveError):
                outlive.Interpreter(**arguments)


def test_a_refused_compiled_model_leaves_nothing() -> None:
    with scenes.nothing_left_behind():
        for _ in range(3):
            with pytest.raises(OutliveError):
                outlive.CompiledModel.from_buffer(b"bad" * 40)


def test_a_diagnosis_of_a_bad_file_leaves_nothing(tmp_path: Path) -> None:
    bad = tmp_path / "bad.tflite"
    bad.write_bytes(Path(scenes.HEALTHY).read_bytes()[:600])
    with scenes.nothing_left_behind():
        for _ in range(3):
            with contextlib.suppress(OutliveError):
                outlive.diagnose(str(bad))


def test_a_restart_with_a_broken_file_is_refused_until_the_file_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    shutil.copy(scenes.HEALTHY, path)
    with outlive.Interpreter(str(path), on_death="restart") as interpreter:
        scenes.run_whole(interpreter)
        path.write_bytes(b"no model" * 100)
        os.kill(interpreter.pid, signal.SIGKILL)
        for _ in range(3):
            with pytest.raises(OutliveError):
                interpreter.invoke()
        shutil.copy(scenes.HEALTHY, path)
        scenes.feed(interpreter)
        interpreter.invoke()


def test_a_large_result_of_a_signature_is_here_once() -> None:
    """It was there three times: as it came, as a part of that, and as the array that is handed out."""
    elements = 10_000_000
    with outlive.Interpreter(model_content=ranged(signed=True)) as interpreter:
        runner = interpreter.get_signature_runner()
        arguments = {"start": np.int32(0), "limit": np.int32(elements), "delta": np.int32(1)}
        tracemalloc.start()
        try:
            found = runner(**arguments)["row"]
            held, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert found.shape == (elements,)
    assert found[-1] == elements - 1
    assert held >= found.nbytes
    assert most < 1.2 * found.nbytes
