"""POSIX calls outside of their packages are found."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from outlive.process.child import operating_system
from tests.house.conftest import Plant
from tests.house.platforms import (
    EXCEPTIONS,
    imports_past_the_choice,
    posix_names,
    stale_exceptions,
)


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


@pytest.mark.parametrize(
    "text", ["from ..posix import pages", "from outlive.process.child.posix.pages import f"]
)
def test_a_platform_that_is_imported_past_the_choice_is_found(plant: Plant, text: str) -> None:
    package = plant({"process/child/guard/blocks.py": text, "process/child/operating_system.py": text})
    (problem,) = imports_past_the_choice(package)
    assert "blocks.py:1: import outlive.process.child.posix.pages" in problem


def test_the_tracing_of_one_platform_is_not_imported_past_the_choice(plant: Plant) -> None:
    package = plant({"process/child/guard/exceptions.py": "from ..tracing import tracee"})
    (problem,) = imports_past_the_choice(package)
    assert "exceptions.py:1: import outlive.process.child.tracing.tracee" in problem


@pytest.mark.parametrize("fault", ["", "from .tracing import tracee", "from .posix import own_process"])
def test_child_processes_load_on_another_platform(tmp_path: Path, fault: str) -> None:
    failures = _load_on_another_platform(tmp_path / "outlive_child", fault)
    assert failures == (["planted"] if fault else [])


# A module of a platform that has whatever it is asked for.
_ANY_NAME = """
def __getattr__(name):
    return type(name, (), {"__init__": lambda self, *given: None})
"""
_LOAD = """
import importlib, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module("outlive_child." + name)
    except ImportError:
        print(name)
"""


def _load_on_another_platform(copy: Path, fault: str) -> list[str]:
    """The modules of child processes that do not load where `posix` and `tracing` are not there."""
    own = shutil.ignore_patterns("posix", "tracing", "startup", "__pycache__")
    shutil.copytree(Path(operating_system.__file__).parent, copy, ignore=own)
    chooser = copy / "operating_system.py"
    chooser.write_text(chooser.read_text("utf-8").replace(".posix", ".other"), "utf-8")
    (copy / "planted.py").write_text(fault, "utf-8")
    (copy / "other").mkdir()
    (copy / "other" / "__init__.py").touch()
    for name in operating_system.__all__:
        (copy / "other" / f"{name}.py").write_text(_ANY_NAME, "utf-8")
    modules = [".".join(path.relative_to(copy).with_suffix("").parts) for path in copy.rglob("[a-z]*.py")]
    command = [sys.executable, "-c", _LOAD, *sorted(modules)]
    done = subprocess.run(command, cwd=copy.parent, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.split()


def test_an_exception_that_nothing_needs_is_found(plant: Plant) -> None:
    package = plant({"cache.py": "import os\nos.getuid()"})
    assert stale_exceptions(package) == list(EXCEPTIONS)


def test_no_exception_is_a_package() -> None:
    assert [entry for entry in EXCEPTIONS if not entry.endswith(".py")] == []
