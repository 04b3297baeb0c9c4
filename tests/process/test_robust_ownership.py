"""Whatever an open takes, it gives back on every path: refused files, a file broken before a restart."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import outlive
from outlive.errors import OutliveError
from outlive.platforms.posix.process.nursery_client import Nursery
from outlive.process.worker_factory import WorkerKind
from tests.deaths import scenes
from tests.interpreter.dropin_models import ranged

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


def test_a_nursery_that_two_threads_close_gives_its_file_back_once(monkeypatch: pytest.MonkeyPatch) -> None:
    nursery = Nursery(WorkerKind(runtime="litert", python=sys.executable))
    [number] = nursery._errors
    closed, close = [], os.close

    def close_slowly(descriptor: int) -> None:
        close(descriptor)
        if descriptor == number:
            closed.append(descriptor)
            if len(closed) == 1:
                nursery.close()  # what another thread does before this call is back

    with monkeypatch.context() as patch:
        patch.setattr(os, "close", close_slowly)
        nursery.close()
    assert closed == [number]


def test_a_file_that_is_gone_since_it_was_found_is_left_to_who_opens_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os.path, "isfile", lambda path: True)
    with pytest.raises(OutliveError):
        outlive.Interpreter("/nonexistent.tflite")


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
