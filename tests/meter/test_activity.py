"""Working, waiting, forking: told apart from outside."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from outlive.platforms.posix.meter.activity import watch_activity

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="needs Linux")

_FORK = "import os, time; os.fork(); print(flush=True); time.sleep(60)"
_CHILD = "import subprocess, time; subprocess.Popen(['sleep', '60']); print(flush=True); time.sleep(60)"


def _watch(program: str) -> dict[str, object]:
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            return watch_activity(process.pid)
        finally:
            os.killpg(process.pid, 9)


def test_a_process_that_computes_is_busy() -> None:
    found = _watch("print(flush=True)\nwhile True: pass")
    assert found["runnable_share"] == 1.0
    assert found["threads"] == 1


def test_a_process_that_waits_is_not() -> None:
    found = _watch("import time; print(flush=True); time.sleep(60)")
    assert float(str(found["runnable_share"])) < 0.5
    assert found["children"] == []


def test_forks_are_told_from_other_programs() -> None:
    assert [child["forked"] for child in _watch(_FORK)["children"]] == [True]  # type: ignore[attr-defined]
    assert [child["forked"] for child in _watch(_CHILD)["children"]] == [False]  # type: ignore[attr-defined]


def test_a_process_that_is_gone_has_no_activity() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    assert watch_activity(process.pid) == {}
