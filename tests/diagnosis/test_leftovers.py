"""A diagnosis is over when it is over: no process, shared memory, descriptor or file is left."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

import outlive
from outlive.process.flight import OpSeen
from tests.deaths import models, scenes
from tests.deaths.restrictions import linux_only
from tests.deaths.scenes import DEADLY, HEALTHY


def shared_files() -> set[str]:
    return set(os.listdir("/dev/shm"))


@linux_only
@pytest.mark.parametrize("name", ["deadly", "healthy", "endless", "broken"])
def test_the_command_leaves_only_what_it_was_asked_for(tmp_path: Path, name: str) -> None:
    sources = {
        "deadly": Path(DEADLY).read_bytes(),
        "healthy": Path(HEALTHY).read_bytes(),
        "endless": models.endless(),
        "broken": Path(HEALTHY).read_bytes()[:300],
    }
    model, temporary = tmp_path / "m.tflite", tmp_path / "temporary"
    model.write_bytes(sources[name])
    temporary.mkdir()
    before = shared_files()
    words = [sys.executable, "-m", "outlive", "diagnose", str(model), "--seconds", "1", "--format", "json"]
    process = subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(temporary)}
    )
    family: set[int] = set()
    while process.poll() is None:
        family |= scenes.children(process.pid)
        assert process.stdout is not None
        if os.read(process.stdout.fileno(), 1 << 16) == b"":
            break
    process.communicate(timeout=300)
    assert scenes.wait_for_death(family) == set()
    assert list(temporary.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.tflite", "temporary"]
    assert {file for file in shared_files() - before if "outlive" in file} == set()


@linux_only
def test_descriptors_and_children_do_not_grow_with_diagnoses() -> None:
    with scenes.nothing_left_behind():
        assert outlive.diagnose(DEADLY).op == OpSeen(type="LOCAL_RESPONSE_NORMALIZATION", index=3)
        assert outlive.diagnose(HEALTHY).verdict is None


@linux_only
def test_descriptors_of_dead_workers_are_gone_at_once() -> None:
    outlive.diagnose(DEADLY)
    before = len(scenes.descriptors())
    gc.disable()
    try:
        outlive.diagnose(DEADLY)
    finally:
        gc.enable()
    assert len(scenes.descriptors()) <= before


def test_a_small_model_takes_few_trials() -> None:
    """Trials, not seconds, are what a diagnosis may spend: each is a matter of a tenth of a second."""
    assert len(outlive.diagnose(DEADLY).trials) <= 9
    assert len(outlive.diagnose(HEALTHY).trials) <= 4
