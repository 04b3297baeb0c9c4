"""POSIX calls outside of their packages are found."""

from __future__ import annotations

import pytest

from tests.house.conftest import Plant
from tests.house.platforms import EXCEPTIONS, posix_names, stale_exceptions


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import os\nos.fork()", "os.fork"),
        ("import signal\nWAY = signal.SIGKILL", "signal.SIGKILL"),
        ("def f():\n    import fcntl", "fcntl"),
        ("from posix import read", "posix"),
        ("from os import fork", "os.fork"),
        ("import select\nselect.poll()", "select.poll"),
        ("import mmap\nFLAGS = mmap.MAP_SHARED", "mmap.MAP_SHARED"),
        ("import socket\nsocket.socketpair(socket.AF_UNIX)", "socket.AF_UNIX"),
        ("import ctypes\nctypes.CDLL(None, use_errno=True)", "CDLL(None)"),
        ("open('/proc/self/status')", "/proc/self/status"),
        ("def f(pid):\n    return f'/proc/{pid}/stat'", "/proc/"),
        ("import subprocess\nsubprocess.Popen(['a'], start_new_session=True)", "start_new_session"),
    ],
)
def test_a_posix_name_outside_of_its_package_is_found(plant: Plant, text: str, name: str) -> None:
    (problem,) = posix_names(plant({"fleet/engine.py": text}))
    assert f": {name} is not on every platform" in problem


@pytest.mark.parametrize("folder", ["process/posix", "process/child/posix", "meter/linux"])
def test_the_packages_of_a_platform_may_name_them(plant: Plant, folder: str) -> None:
    assert posix_names(plant({f"{folder}/calls.py": "import os\nos.fork()\nopen('/proc/self/stat')"})) == []


def test_what_every_platform_has_is_left_alone(plant: Plant) -> None:
    text = '''
    """Reads no /proc."""
    import os, signal, subprocess
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.pipe()
    PATHS = ("src/proc", "docs/sys")
    '''
    assert posix_names(plant({"fleet/engine.py": text})) == []


def test_an_exception_that_nothing_needs_is_found(plant: Plant) -> None:
    package = plant({"cache.py": "import os\nos.getuid()"})
    assert stale_exceptions(package) == [entry for entry in EXCEPTIONS if entry != "cache.py"]
