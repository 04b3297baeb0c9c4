"""What tests of guarded functions share: programs of their own, and what is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
# Of joblib's processes, Ray and Chromium, which tests beside these use, and of tests/meter.
_OTHERS = ("sem.loky", "loky", "joblib", "plasma", "ray", ".org.chromium", "outlive-test-")


def play(program: str, *, timeout_s: float = 300, expect: int | None = 0) -> subprocess.CompletedProcess[str]:
    """Run a program in a Python of its own; its output."""
    text = "import os, sys, time\nimport outlive\n" + textwrap.dedent(program)
    done = subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        timeout=timeout_s,
        cwd=REPOSITORY,
        check=False,
    )
    assert expect is None or done.returncode == expect, done.stdout + done.stderr
    return done


def is_running(pid: int) -> bool:
    """True while a process of this number runs; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone(pid: int, timeout_s: float = 300) -> bool:
    """True once the process has ended."""
    end = time.monotonic() + timeout_s
    while is_running(pid) and time.monotonic() < end:
        time.sleep(0.02)
    return not is_running(pid)


def shared_memory() -> set[str]:
    """What lies in the system's folder for shared memory, but for what engines and browsers put there."""
    return {name for name in os.listdir("/dev/shm") if not name.startswith(_OTHERS)}
