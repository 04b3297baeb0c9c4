"""In a real Jupyter kernel a model dies, hangs and is interrupted, and the kernel goes on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.deaths import moments, scenes
from tests.deaths.restrictions import linux_only
from tests.jupyter.kernel import Kernel, started

pytestmark = linux_only

BEGIN = """
import os, outlive
from outlive import demo_models
def opened(name, **limits):
    interpreter = outlive.Interpreter(model_path=demo_models.path(name), **limits)
    interpreter.allocate_tensors()
    return interpreter
before = os.getpid()
"""
ENDLESS = """
from tests.deaths import models
endless = outlive.Interpreter(model_content=models.endless())
endless.allocate_tensors()
print("worker", endless.pid)
"""


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    with started() as running:
        begun = running.run(BEGIN)
        assert not begun.error, begun.text
        yield running


def test_a_model_that_dies_leaves_the_kernel_alive(kernel: Kernel) -> None:
    dead = kernel.run("opened('deadly').invoke()")
    assert dead.error == "ModelDied"
    assert "error[O109]" in dead.text
    after = kernel.run("opened('healthy').invoke(); print('lives', os.getpid() == before)")
    assert (after.error, after.text) == ("", "lives True\n")


def test_nothing_is_printed_when_nothing_is_wrong(kernel: Kernel) -> None:
    assert kernel.run("healthy = opened('healthy'); healthy.invoke(); healthy.close()").text == ""


def test_the_stop_button_ends_a_call_and_its_worker(kernel: Kernel) -> None:
    opened = kernel.run(ENDLESS)
    assert not opened.error, opened.text
    worker = int(opened.text.split()[-1])
    cell = kernel.run("endless.invoke()", stop_when=lambda: moments.works(worker))
    assert cell.error == "KeyboardInterrupt"
    assert scenes.wait_for_death({worker}) == set()
    assert kernel.run("opened('healthy').invoke(); print('on')").text == "on\n"


def test_a_killed_kernel_takes_its_workers_along() -> None:
    with started() as kernel:
        assert not kernel.run(BEGIN + "kept = opened('healthy'); kept.invoke()").error
        family = scenes.children(kernel.pid)
        assert len(family) >= 2  # the nursery and the worker
        kernel.kill()
        assert scenes.wait_for_death(family) == set()
