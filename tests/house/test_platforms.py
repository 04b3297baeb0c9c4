"""POSIX calls outside of their packages are found."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import outlive
from outlive.platforms.posix import features
from outlive.platforms.posix import for_meter as meter_parts
from outlive.platforms.posix import for_process as process_parts
from outlive.process.child import operating_system
from tests.house.conftest import Plant
from tests.house.platforms import imports_out_of_child, imports_past_the_choice, posix_names


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


@pytest.mark.parametrize("folder", ["process", "child", "meter"])
def test_the_package_of_a_platform_may_name_them(plant: Plant, folder: str) -> None:
    text = "import os\nos.fork()\nopen('/proc/self/stat')"
    assert posix_names(plant({f"platforms/posix/{folder}/calls.py": text})) == []


def test_what_every_platform_has_is_left_alone(plant: Plant) -> None:
    text = '''
    """Reads no /proc."""
    import os, signal, subprocess
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.pipe()
    PATHS = ("src/proc", "docs/sys")
    '''
    assert posix_names(plant({"fleet/engine.py": text})) == []


def test_a_platform_that_is_imported_past_the_choice_is_found(plant: Plant) -> None:
    text = "from outlive.platforms.posix.child.pages import f"
    package = plant({"process/child/guard/blocks.py": text, "process/child/operating_system.py": text})
    (problem,) = imports_past_the_choice(package)
    assert "blocks.py:1: import outlive.platforms.posix.child.pages" in problem


@pytest.mark.parametrize("text", ["from ....process.child import wire", "from outlive.units import text_of"])
def test_what_a_child_process_does_not_have_is_found(plant: Plant, text: str) -> None:
    package = plant({"platforms/posix/child/limits.py": f"from . import pages\n{text}"})
    (problem,) = imports_out_of_child(package)
    assert "limits.py:2: outlive." in problem


# A part of a platform that has whatever it is asked for, and does nothing.
_ANY_NAME = """
class Anything(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return __getattr__(name)

def __getattr__(name):
    return Anything(name, (), {"__init__": lambda self, *given, **named: None})
"""
# The one package of another platform: it is found by its name, which is that of this system.
_OTHER = {
    "for_process": process_parts.__all__,
    "for_meter": meter_parts.__all__,
    "features": features.__all__,
    **{f"child/{name}": [] for name in operating_system.__all__ if name not in operating_system._TRACING},
}
# They alone need what traces, which a platform may do without.
_TRACERS = ("nursery_main", "running_op", "trace_kernel")
_LOAD = """
import importlib, json, sys
folder, modules = json.load(sys.stdin)
if "outlive_child" in modules[0]:
    sys.path.insert(0, folder)
    importlib.import_module("start").load(folder)
for name in modules:
    try:
        importlib.import_module(name)
    except ImportError:
        print(name)
"""


@pytest.fixture(scope="module")
def other_platform(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of outlive, where `posix` has given way to another package."""
    copy = tmp_path_factory.mktemp("other") / "outlive"
    left_out = shutil.ignore_patterns("posix", "startup", "__pycache__", "*.tflite")
    shutil.copytree(Path(outlive.__file__).parent, copy, ignore=left_out)
    for name, offered in _OTHER.items():
        path = copy / "platforms" / sys.platform / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"__all__ = {list(offered)}\n{_ANY_NAME}", "utf-8")
    return copy


@pytest.mark.parametrize("fault", ["", "from outlive.platforms.posix import features"])
def test_all_of_outlive_loads_on_another_platform(other_platform: Path, fault: str) -> None:
    (other_platform / "planted.py").write_text(fault, "utf-8")
    extras = ("jupyter", "pytest_plugin", "platforms", *_TRACERS)
    assert _do_not_load(other_platform, "outlive", extras) == (["outlive.planted"] if fault else [])


@pytest.mark.parametrize("fault", ["", "from .platforms.posix.child import own_process"])
def test_child_processes_load_on_another_platform(other_platform: Path, fault: str) -> None:
    (other_platform / "process" / "child" / "planted.py").write_text(fault, "utf-8")
    folder = other_platform / "process" / "child"
    failures = _do_not_load(folder, "outlive_child", _TRACERS)
    assert failures == (["outlive_child.planted"] if fault else [])


def _do_not_load(folder: Path, root: str, left_out: tuple[str, ...]) -> list[str]:
    """The modules in a folder that cannot be imported as parts of `root`."""
    names = [path.relative_to(folder).with_suffix("").parts for path in folder.rglob("[a-z]*.py")]
    modules = [".".join((root, *name)) for name in names if not {*name} & {*left_out}]
    done = subprocess.run(
        [sys.executable, "-c", _LOAD],
        cwd=folder.parent,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        input=json.dumps([str(folder), sorted(modules)]),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout.split()
