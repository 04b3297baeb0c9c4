"""Ctrl-C while a guarded test runs: the session ends in order, fixtures are torn down, nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.pytest_plugin.sessions import PLUGIN, quick_environment

TESTS = """\
import os, time, pytest
pytestmark = pytest.mark.outlive

@pytest.fixture(scope="session")
def kept():
    yield
    open("torn_down", "w").close()

def test_done(kept):
    pass

def test_waits(kept):
    with open("pid.part", "w") as file:
        file.write(str(os.getpid()))
    os.rename("pid.part", "pid")
    time.sleep(300)

def test_never():
    open("never", "w").close()
"""


def wait_for(path: Path) -> None:
    end = time.monotonic() + 120
    while not path.exists():
        assert time.monotonic() < end, f"{path} never came"
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[:1]


def test_an_interrupt_ends_the_session_in_order(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(TESTS, "utf-8")
    command = [sys.executable, "-m", "pytest", *PLUGIN, "-p", "no:cacheprovider"]
    session = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=quick_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    wait_for(tmp_path / "pid")
    worker = int((tmp_path / "pid").read_text("utf-8"))
    os.killpg(session.pid, signal.SIGINT)
    out, _ = session.communicate(timeout=300)
    assert session.returncode == 2
    assert "KeyboardInterrupt" in out
    assert "1 passed" in out
    assert (tmp_path / "torn_down").exists()
    assert not (tmp_path / "never").exists()
    end = time.monotonic() + 300
    while is_running(worker) and time.monotonic() < end:
        time.sleep(0.05)
    assert not is_running(worker)
