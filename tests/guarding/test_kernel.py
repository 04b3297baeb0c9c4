"""A guard in a real Jupyter kernel: output under the cell, deaths and interrupts that the kernel survives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deaths.restrictions import linux_only
from tests.jupyter.kernel import Kernel, started

pytestmark = linux_only


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    with started() as running:
        begun = running.run("import os, sys, time, outlive\nbefore = os.getpid()")
        assert not begun.error, begun.text
        yield running


def test_functions_of_a_cell_and_their_output(kernel: Kernel) -> None:
    kernel.run("FACTOR = 3\ndef scale(x):\n    print('scaling', x)\n    return x * FACTOR")
    cell = kernel.run("guarded = outlive.guard(scale)\nprint(guarded(2))")
    assert (cell.error, cell.text) == ("", "scaling 2\n6\n")
    cell = kernel.run("FACTOR = 5\nos.system('true')\nprint(guarded(2))")
    assert cell.text == "scaling 2\n10\n"


def test_native_output_and_standard_error_under_the_cell(kernel: Kernel) -> None:
    cell = kernel.run("outlive.guard(lambda: (os.write(1, b'native '), os.write(2, b'errors'), None)[2])()")
    assert not cell.error
    assert {"native ", "errors"} == set(cell.text.replace("native ", "native |").split("|"))


def test_a_death_leaves_the_kernel_alive(kernel: Kernel) -> None:
    cell = kernel.run("outlive.guard(os.abort)()")
    assert cell.error == "ModelDied"
    assert kernel.run("print(os.getpid() == before)").text == "True\n"


def test_the_square_button_reaches_the_function(kernel: Kernel, tmp_path: Path) -> None:
    running = tmp_path / "running"
    kernel.run(
        f"def wait():\n    try:\n        open({str(running)!r}, 'w').close()\n        time.sleep(1000)\n"
        "    finally:\n        print('tidied up')"
    )
    kernel.run("outlive.guard(abs)(1)")
    cell = kernel.run("outlive.guard(wait)()", stop_when=running.exists)
    assert cell.error == "KeyboardInterrupt"
    assert "tidied up" in cell.text
    assert kernel.run("print(outlive.guard(abs)(-4))").text == "4\n"
