"""Programs keep the address of a `tensor()` view past a resize: it is never one that kills them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import outlive
from tests.deaths.restrictions import linux_only
from tests.interpreter.dropin_models import unary

pytestmark = linux_only

_ALIAS = """
import ctypes, os, signal, sys
import numpy as np
import outlive
sys.path.insert(0, {root!r})
from tests.interpreter.dropin_models import unary

interpreter = outlive.Interpreter(model_content=unary("FLOOR", "FLOAT32", [1, 8]), on_death="restart")

def alias(index):
    view = interpreter.tensor(index)()
    return (ctypes.c_float * view.size).from_address(view.ctypes.data)

def use(aliases):
    for one in aliases:
        one[0], one[len(one) - 1] = one[len(one) - 1], 2.5

def check(size):
    given = np.linspace(-3, 3, size, dtype=np.float32)[None]
    interpreter.set_tensor(0, given)
    interpreter.invoke()
    assert np.array_equal(interpreter.get_tensor(1), np.floor(given))

interpreter.allocate_tensors()
aliases = [alias(0), alias(1)]
for size in (5_000, 300_001, 700_000, 8):
    interpreter.resize_tensor_input(0, [1, size])
    interpreter.allocate_tensors()
    use(aliases)
    check(size)
    aliases += [alias(0), alias(1)]
os.kill(interpreter.pid, signal.SIGKILL)
interpreter.set_tensor(0, np.zeros((1, 8), np.float32))
for _ in range(2):
    try:
        interpreter.invoke()
    except outlive.ModelDied:
        pass
use(aliases)
check(8)
interpreter.close()
use(aliases)
print("alive")
"""


def test_an_alias_of_an_old_view_does_not_kill() -> None:
    root = str(Path(__file__).parents[2])
    program = [sys.executable, "-c", _ALIAS.format(root=root)]
    ended = subprocess.run(program, capture_output=True, text=True, timeout=120, check=False)
    assert (ended.returncode, ended.stdout) == (0, "alive\n"), ended.stderr


def mapped() -> tuple[int, int]:
    """How many mappings are the block's or blank, and their bytes."""
    rows = Path("/proc/self/maps").read_text().splitlines()
    spans = [row.split()[0].split("-") for row in rows if "outlive-block" in row or "/dev/zero" in row]
    return len(spans), sum(int(stop, 16) - int(start, 16) for start, stop in spans)


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_many_resizes_keep_few_mappings() -> None:
    """In a program of its own: what a long session holds beside it is not counted."""
    root = str(Path(__file__).parents[2])
    code = f"import sys; sys.path.insert(0, {root!r})\nfrom {__name__} import resize_often\nresize_often()"
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=False
    )
    assert ended.returncode == 0, ended.stderr


def resize_often() -> None:
    sizes = [*range(1_000, 601_000, 4_000), *[1_000, 500_000] * 75]
    before = mapped()
    interpreter = outlive.Interpreter(model_content=unary("FLOOR", "FLOAT32", [1, 8]))
    interpreter.allocate_tensors()
    descriptors = len(os.listdir("/proc/self/fd"))
    held = resident()
    for size in sizes:
        interpreter.resize_tensor_input(0, [1, size])
        interpreter.allocate_tensors()
        interpreter.tensor(0)()[:] = 1.5
        interpreter.tensor(1)()
    largest = 2 * 4 * max(sizes)
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert mapped()[0] - before[0] <= 16
    assert mapped()[1] - before[1] <= 4 * largest
    assert resident() - held < 3 * largest
    interpreter.close()
    del interpreter
    assert mapped() == before


def test_a_view_outlives_its_interpreter() -> None:
    interpreter = outlive.Interpreter(model_content=unary("FLOOR", "FLOAT32", [1, 8]))
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.full((1, 8), 1.5, np.float32))
    view = interpreter.tensor(0)()
    interpreter.close()
    del interpreter
    assert (view == 1.5).all()
