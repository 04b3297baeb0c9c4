"""Nothing of ours stays in an engine's process; and a process of ours does not outlive its scan."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import psutil
import pytest

import outlive
from outlive import demo_models
from outlive.fleet import local_engine
from outlive.process.factories import close_factories
from tests.deaths.scenes import wait_for_death

# A parent that starts a child like joblib does, and is killed. The child has our end of stderr.
ORPHAN = """
import os, subprocess, sys
child = (
    "import os, time; from outlive.fleet.local_engine import end_with; end_with(os.getppid());"
    "print(1, flush=True); time.sleep(600)"
)
process = subprocess.Popen([sys.executable, "-c", child], stdout=subprocess.PIPE)
process.stdout.readline()
os.kill(os.getpid(), 9)
"""


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set when nurseries are ended."""
    event = threading.Event()
    monkeypatch.setattr(local_engine, "close_idle_factories", event.set)
    return event


def test_nurseries_are_ended_after_the_last_task(closed: threading.Event) -> None:
    home = local_engine.WorkerLifetime(idle_s=0.05)
    with home.task():
        pass
    assert closed.wait(300)
    assert home.idle


def test_not_while_there_is_another_task(closed: threading.Event) -> None:
    home = local_engine.WorkerLifetime(idle_s=0.05)
    with home.task():
        with home.task():
            pass
        assert not closed.wait(0.3)
    assert closed.wait(300)


def test_a_task_in_time_keeps_them(closed: threading.Event) -> None:
    home = local_engine.WorkerLifetime(idle_s=0.5)
    with home.task():
        pass
    with home.task():
        assert not closed.wait(1.0)


def test_what_the_user_has_open_there_is_left_alone() -> None:
    close_factories()
    home = local_engine.WorkerLifetime(idle_s=0.05)
    with outlive.Interpreter(str(demo_models.path("healthy"))) as mine:
        with home.task():
            assert not outlive.run(demo_models.path("healthy")).died
        while not home.idle:
            time.sleep(0.01)
        mine.allocate_tensors()
        maker = psutil.Process(mine.pid).ppid()
    with home.task():
        pass
    assert wait_for_death({maker}) == set()


def test_a_child_goes_with_its_parent() -> None:
    # It ends when nobody has the other end of the pipe any more: when the child is gone.
    done = subprocess.run([sys.executable, "-c", ORPHAN], stderr=subprocess.PIPE, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (-9, b"")


def test_a_stranger_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading.Thread, "start", lambda self: pytest.fail("it is watched"))
    local_engine.end_with(0)
    local_engine.end_with(os.getpid())
