"""`%%outlive` in a real kernel: names go and come, and whatever the cell does, the kernel lives."""

from __future__ import annotations

import operator
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from outlive.jupyter.cells import names_in, read_options
from tests.deaths import scenes
from tests.deaths.restrictions import linux_only
from tests.jupyter.kernel import Cell, Kernel, started

pytestmark = linux_only

BEGIN = """
%load_ext outlive
import os
import numpy as np
factor = 3
x = np.arange(5.0)
def scaled(values):
    return values * factor
kernel_pid = os.getpid()
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with started(OUTLIVE_BLACKBOX_DIR=str(tmp_path_factory.mktemp("box"))) as running:
        begun = running.run(BEGIN)
        assert begun.error == ""
        yield running


def test_names_go_to_the_worker_and_come_back(kernel: Kernel) -> None:
    cell = kernel.run(
        "%%outlive\nprint('in the worker')\ny = scaled(x)\nx[0] = 7\npid = os.getpid()\ny.sum()"
    )
    assert (cell.error, cell.text) == ("", "in the worker\n")
    assert "30.0" in cell.plain()
    assert kernel.run("[float(v) for v in y], float(x[0]), pid != kernel_pid").plain() == (
        "([0.0, 3.0, 6.0, 9.0, 12.0], 7.0, True)"
    )


def test_what_cannot_come_back_is_said_by_name(kernel: Kernel) -> None:
    cell = kernel.run("%%outlive\nimport threading\nlock = threading.Lock()\ngood = 1")
    assert cell.error == ""
    assert "lock stays in the worker" in cell.text
    assert kernel.run("good, 'lock' in globals()").plain() == "(1, False)"


def test_what_cannot_go_is_said_by_name(kernel: Kernel) -> None:
    kernel.run("import threading\nmutex = threading.Lock()")
    cell = kernel.run("%%outlive\nwith mutex:\n    pass")
    assert cell.error == "TypeError"
    assert "cannot go to a worker: mutex (lock" in cell.text


def test_magics_in_a_guarded_cell_are_refused_in_words(kernel: Kernel) -> None:
    cell = kernel.run("%%outlive\n!ls")
    assert cell.error == "ValueError"
    assert "work in the kernel only" in cell.text


def test_only_what_is_named_goes_and_comes(kernel: Kernel) -> None:
    assert not kernel.run("%%outlive --in x --out wanted\nwanted = x + 1\nunwanted = 3").error
    assert kernel.run("len(wanted), 'unwanted' in globals()").plain() == "(5, False)"
    assert kernel.run("%%outlive --in x\nscaled(x)").error == "NameError"


def test_a_module_comes_back_without_being_loaded(kernel: Kernel) -> None:
    assert not kernel.run("%%outlive\nimport colorsys").error
    assert kernel.run("import sys; 'colorsys' in sys.modules").plain() == "False"
    assert kernel.run("%%outlive\ncolorsys.rgb_to_hsv(0, 0, 0)").plain() == "(0.0, 0.0, 0)"
    assert kernel.run("colorsys.rgb_to_hsv(0, 0, 0)").plain() == "(0.0, 0.0, 0)"


def test_a_figure_appears(kernel: Kernel) -> None:
    pytest.importorskip("matplotlib")
    cell = kernel.run("%%outlive\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show();")
    assert (cell.error, cell.text) == ("", "")
    (shown,) = cell.shown
    assert shown["image/png"]


def test_a_figure_of_a_cell_that_fails_is_shown_with_it_and_not_later(kernel: Kernel) -> None:
    pytest.importorskip("matplotlib")
    cell = kernel.run("%%outlive\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\n1 / 0")
    assert cell.error == "ZeroDivisionError"
    assert [list(shown) for shown in cell.shown] == [["image/png", "text/plain"]]
    assert kernel.run("%%outlive\nlater = 1").shown == ()
    # One that cannot be drawn is not left to the next cell either.
    assert kernel.run("%%outlive\nimport matplotlib.pyplot as plt\nplt.title('$\\frac{$');").error
    assert kernel.run("%%outlive\nlater = 1") == Cell(error="", text="", shown=())


def test_modules_below_a_module_come_and_go_with_it(kernel: Kernel) -> None:
    assert not kernel.run("%%outlive\nimport xml.dom.minidom, wsgiref.util").error
    assert kernel.run("import sys; 'xml.dom' in sys.modules, 'wsgiref' in sys.modules").plain() == (
        "(False, False)"
    )
    in_worker = kernel.run("%%outlive\nxml.dom.minidom.parseString('<a/>').nodeName")
    assert (in_worker.error, in_worker.plain()) == ("", "'#document'")
    here = kernel.run("xml.dom.minidom.parseString('<a/>').nodeName, wsgiref.util.guess_scheme({})")
    assert (here.error, here.plain()) == ("", "('#document', 'http')")
    assert not kernel.run("import curses.ascii").error  # loaded here; the worker has not seen it
    assert kernel.run("%%outlive\ncurses.ascii.isalpha('a')").plain() == "True"


def test_whatever_binds_a_name_brings_it_back(kernel: Kernel) -> None:
    code = """
def set_it():
    global by_a_function
    by_a_function = 1
set_it()
match [1, 2, 3]:
    case [first, *others]: pass
match {"a": 1, "b": 2}:
    case {"a": value, **left}: pass
from colorsys import *
globals()["by_hand"] = 4
"""
    cell = kernel.run(f"%%outlive\n{code}")
    assert (cell.error, cell.text) == ("", "")
    assert kernel.run("by_a_function, first, others, value, left, by_hand, hsv_to_rgb(0, 0, 0)").plain() == (
        "(1, 1, [2, 3], 1, {'b': 2}, 4, (0, 0, 0))"
    )


def test_what_was_asked_for_and_is_not_there_is_said(kernel: Kernel) -> None:
    cell = kernel.run("%%outlive --out there,nowhere\nthere = 3")
    assert cell.error == ""
    assert cell.text == "--out nowhere: the cell ended without a variable of that name\n"
    cell = kernel.run("%%outlive --in x,nosuch\nprint(1)")
    assert cell.error == "NameError"
    assert "--in nosuch: this notebook has no variable of that name" in cell.text


def test_what_a_method_changes_comes_back_if_asked_for(kernel: Kernel) -> None:
    kernel.run("filled = [1]")
    assert not kernel.run("%%outlive\nfilled.append(2)").error
    assert kernel.run("filled").plain() == "[1]"
    assert not kernel.run("%%outlive --out filled\nfilled.append(2)").error
    assert kernel.run("filled").plain() == "[1, 2]"


@pytest.mark.parametrize(
    ("line", "code", "error", "verdict"),
    [
        ("", "import faulthandler\nfaulthandler._sigsegv()", "ModelDied", "D504"),
        ("", "os.abort()", "ModelDied", "D505"),
        ("", "os._exit(3)", "ModelDied", "D509"),
        ("--seconds 0.5", "while True:\n    pass", "LimitReached", "D503"),
    ],
    ids=["segfault", "abort", "exit", "endless"],
)
def test_a_cell_that_dies_leaves_the_kernel_as_it_was(
    kernel: Kernel, line: str, code: str, error: str, verdict: str
) -> None:
    cell = kernel.run(f"%%outlive {line}\nfactor = 4\n{code}")
    assert cell.error == error
    assert f"error[{verdict}]" in cell.html()
    assert kernel.run("factor, len(x), os.getpid() == kernel_pid").plain() == "(3, 5, True)"


def test_an_exception_comes_back_with_its_line(kernel: Kernel) -> None:
    cell = kernel.run("%%outlive\ndef inner():\n    return 1 / 0\ninner()")
    assert cell.error == "ZeroDivisionError"
    assert "line 2, in inner" in cell.text
    assert "guarding.py" not in cell.text


def test_too_much_memory_is_an_exception(kernel: Kernel) -> None:
    cell = kernel.run("%%outlive --memory 200MB\nnp.ones(10**9)")
    assert cell.error in ("MemoryError", "LimitReached")
    assert "error[D502]: Memory limit exceeded: the cell" in cell.plain()
    assert "the limit is 200 MB" in cell.html() or "its limit of 200 MB" in cell.html()


@pytest.mark.parametrize("line", ["--wrong", "--memory much", "--seconds soon"])
def test_a_mistake_in_the_line_is_said(kernel: Kernel, line: str) -> None:
    cell = kernel.run(f"%%outlive {line}\n1")
    assert cell.error == "ValueError"


DEATHS = """
import gc, outlive
from outlive import demo_models
def die():
    interpreter = outlive.Interpreter(demo_models.path("deadly"))
    interpreter.allocate_tensors()
    interpreter.invoke()
def deaths(times):
    for _ in range(times):
        try:
            die()
        except outlive.ModelDied:
            pass
    gc.collect()
deaths(10)
"""


def held(kernel: Kernel) -> tuple[int, int, int]:
    """How many processes, descriptors and pieces of shared memory a kernel has."""
    folder = Path(f"/proc/{kernel.pid}")
    shared = [line for line in (folder / "maps").read_text().splitlines() if "memfd:outlive" in line]
    return len(scenes.children(kernel.pid)), len(list((folder / "fd").iterdir())), len(shared)


def test_fifty_deaths_leave_nothing(tmp_path: Path) -> None:
    with started(OUTLIVE_BLACKBOX_DIR=str(tmp_path)) as kernel:
        assert not kernel.run(BEGIN + DEATHS).error
        assert kernel.run("%%outlive\nos.abort()").error == "ModelDied"
        kernel.run("%%outlive\n1")  # a worker is kept warm for the next cell
        kernel.run("import gc; gc.collect()")
        before, private = held(kernel), scenes.private_bytes(kernel.pid)
        assert not kernel.run("deaths(35)").error
        for _ in range(4):
            assert kernel.run("%%outlive\nos.abort()").error == "ModelDied"
        kernel.run("gc.collect()")
        end = time.monotonic() + 300
        while not all(map(operator.le, held(kernel), before)) and time.monotonic() < end:
            time.sleep(0.05)
        after = held(kernel)
        assert all(map(operator.le, after, before)), (before, after)
        assert scenes.private_bytes(kernel.pid) - private < 5_000_000
        assert kernel.run("[name for name in os.listdir('/dev/shm') if 'outlive' in name]").plain() == "[]"
        assert not list(tmp_path.glob("*.json"))  # the kernel itself never died
        processes = scenes.children(kernel.pid) | {kernel.pid}
    assert scenes.wait_for_death(processes) == set()


def test_names_are_found_in_the_code() -> None:
    source = """
import a.b as c, d.e
from f import g as h
def i(j): k = 1; return l
class m: n = 2
o = [p for p in q]
r.s[t].u = v
w += 1
for x, (y, *z) in []: pass
with aa as bb: pass
lambda cc: dd
"""
    read, assigned = names_in(source)
    assert assigned == {"c", "d", "h", "i", "m", "o", "r", "w", "x", "y", "z", "bb"}
    assert {"l", "q", "r", "t", "v", "w", "aa", "dd"} <= read


def test_wishes_are_read() -> None:
    assert read_options("--memory 4GB --seconds 60 --in x,y --out z") == {
        "memory": "4GB", "seconds": 60.0, "in": ["x", "y"], "out": ["z"]}  # fmt: skip
    assert read_options("") == {"memory": None, "seconds": None, "in": None, "out": None}
